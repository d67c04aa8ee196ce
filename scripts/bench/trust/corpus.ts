import { readFile } from 'node:fs/promises';
import { createBuiltinExtractor } from '../../phase1/builtin.ts';
import { outline } from '../../phase1/outline.ts';
import type { Stage1Text } from '../../phase1/types.ts';
import { filterRollout } from '../../rollout/filter.ts';
import { redactRollout } from '../../rollout/redacted.ts';
import type { Item, Rollout } from '../../rollout/types.ts';
import { citedItems, withoutEvidence } from '../../shared/evidence.ts';
import { createRedactor } from '../../shared/redact.ts';
import { shortThreadId } from '../../shared/thread-id.ts';
import { parseYaml } from '../../shared/yaml.ts';
import { type Session, sessionOfExtract, sessionOfItems } from '../../workspace/said.ts';
import type { Line } from '../../workspace/verdicts.ts';
import { sampleRollouts } from '../samples.ts';
import { lotsFrom } from './lots.ts';
import { languages, writtenSession } from './written.ts';

/** A session with what phase 1 wrote of it. */
export interface Witness {
  /** Short id. */
  readonly thread: string;
  readonly repo: string;
  readonly language: 'recorded' | (typeof languages)[number];
  readonly items: readonly Item[];
  readonly session: Session;
  readonly extract: Session;
  /** Bullets of both stage-1 texts and, of written sessions, lines as a model writes them. */
  readonly lines: readonly Line[];
}

/**
 * Recorded sessions and written ones, with the lines that the built-in extractor makes of them.
 * @param perLanguage how many sessions are written in each language
 */
export async function theCorpus(perLanguage: number, recorded: readonly Rollout[] | null = null): Promise<Witness[]> {
  const redactor = createRedactor({});
  const samples = (recorded ?? (await sampleRollouts())).filter(({ thread }) => thread.kind === 'root');
  const told = recorded === null ? await toldLines() : new Map<string, Line[]>();
  const lots = lotsFrom(20_261_130);
  const written = languages.flatMap((language) =>
    Array.from({ length: perLanguage }, (_, number) => ({ language, ...writtenSession(language, number, lots) })),
  );
  const witnesses = [
    ...(await Promise.all(
      samples.map((rollout) =>
        witnessOf(redactRollout(rollout, redactor), 'recorded', told.get(shortThreadId(rollout.thread.id)) ?? []),
      ),
    )),
    ...(await Promise.all(written.map(({ rollout, language, lines }) => witnessOf(rollout, language, lines)))),
  ];
  return witnesses.filter(({ lines }) => lines.length > 0);
}

const toldPath = new URL('../../../test/fixtures/trust-lines.yaml', import.meta.url);

/** Lines about the recorded sessions as a careful model puts them, by short thread id. */
async function toldLines(): Promise<ReadonlyMap<string, readonly Line[]>> {
  const { value, errors } = parseYaml(await readFile(toldPath, 'utf8'));
  const [mistake] = errors;
  if (mistake !== undefined) throw new TypeError(`trust-lines.yaml, line ${mistake.line}: ${mistake.message}`);
  const lines = value as Readonly<Record<string, readonly [Line['section'], string, string[]][]>>;
  return new Map(
    Object.entries(lines).map(([thread, own]) => [
      thread,
      own.map(([section, text, items]) => ({ section, text, evidence: [{ thread, items }] })),
    ]),
  );
}

const extractor = createBuiltinExtractor();

async function witnessOf(rollout: Rollout, language: Witness['language'], more: readonly Line[]): Promise<Witness> {
  const { items } = filterRollout(rollout);
  const thread = shortThreadId(rollout.thread.id);
  const result = await extractor.extract({ thread: rollout.thread, rolloutPath: '', items });
  const text = result.outcome === 'extracted' ? result.text : { rawMemory: '', rolloutSummary: '', rolloutSlug: '' };
  const said = more.map((line) => ({
    ...line,
    evidence: line.evidence.map(({ items: numbers }) => ({ thread, items: numbers })),
  }));
  const who = new Map(items.map((item) => [item.n, item.who]));
  const told = said.map(({ text: words, evidence }) => `- ${words} (@${evidence[0]?.items.join(',')})`).join('\n');
  return {
    thread,
    repo: rollout.thread.repo,
    language,
    items,
    session: sessionOfItems(items),
    extract: sessionOfExtract([text.rawMemory, text.rolloutSummary, told], (n) => who.get(n) ?? null),
    lines: [...bulletsOf(text, thread), ...said],
  };
}

function bulletsOf({ rawMemory, rolloutSummary }: Stage1Text, thread: string): Line[] {
  return [rawMemory, rolloutSummary].flatMap((text) =>
    outline(text).flatMap((line): Line[] => {
      const items = citedItems(line.text);
      if (line.kind !== 'bullet' || items.length === 0) return [];
      const section = line.section === 'project' || line.section === 'personal' ? 'preferences' : line.section;
      return [{ text: withoutEvidence(line.text).trim(), section, evidence: [{ thread, items }] }];
    }),
  );
}
