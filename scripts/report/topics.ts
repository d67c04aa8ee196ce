import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { parseFrontMatter } from '../shared/front-matter.ts';
import type { EvidenceRow } from '../state/types.ts';
import { type Block, bulletsOf, type Handbook, scopeOf } from '../workspace/handbook.ts';
import { everywhere, skillOf } from '../workspace/layout.ts';
import { unitsOf } from '../workspace/lines.ts';
import { skillScope } from '../workspace/skill.ts';
import { type UseFacts, wireUse } from './facts.ts';
import type { Sessions } from './sessions.ts';
import type { Authority, WireLine, WireRepository, WireTopic } from './wire.ts';

/** Short id → the items that lines of the handbook name. */
export function namedItems({ blocks }: Handbook): Map<string, ItemNumber[]> {
  const named = new Map<string, ItemNumber[]>();
  for (const { evidence } of blocks.flatMap(unitsOf))
    for (const { thread, items } of evidence) named.set(thread, [...new Set([...(named.get(thread) ?? []), ...items])]);
  return named;
}

/** The handbook by repository and topic, with the skills; `*` first, then by id, people's own sections last. */
export function repositoriesOf(
  handbook: Handbook,
  files: Files,
  usage: UseFacts,
  sessions: Sessions,
): WireRepository[] {
  const uses = new Map(usage.blocks.map((use) => [use.line, use]));
  const topics = new Map<string, WireTopic[]>();
  for (const block of handbook.blocks) {
    const id = scopeOf(block) ?? '';
    topics.set(id, [...(topics.get(id) ?? []), topicOf(block, uses.get(block.line), sessions)]);
  }
  const skills = skillsOf(files);
  const ids = [...new Set([...topics.keys(), ...skills.keys()])].sort((a, b) => rank(a) - rank(b) || byBinary(a, b));
  return ids.map((id) => ({ id, topics: topics.get(id) ?? [], skills: skills.get(id) ?? [] }));
}

function rank(id: string): number {
  return id === everywhere ? 0 : id === '' ? 2 : 1;
}

function topicOf(block: Block, use: UseFacts['blocks'][number] | undefined, sessions: Sessions): WireTopic {
  return {
    title: block.title,
    line: block.line,
    cwd: block.appliesTo.cwd,
    reuse: block.appliesTo.reuseRule,
    keywords: [...new Set(block.tasks.flatMap(({ keywords }) => keywords))],
    use: wireUse(use),
    lines: linesOf(block, sessions),
  };
}

/** The bullets of the three sections, then whatever else somebody wrote there. */
function linesOf(block: Block, sessions: Sessions): WireLine[] {
  const taken = new Set(bulletsOf(block).map(({ line }) => line));
  const sections = (['preferences', 'knowledge', 'failures'] as const).flatMap((section) =>
    block[section].map(({ text, line, evidence }) => ({ text, line, section, evidence })),
  );
  const notes = unitsOf(block)
    .filter(({ line, kind }) => !taken.has(line) && kind !== 'heading')
    .map(({ raw, line, evidence }) => ({
      text: raw.replace(/^[ \t]*[-*+][ \t]+/, ''),
      line,
      section: 'note' as const,
      evidence,
    }));
  return [...sections, ...notes].map(
    ({ text, line, section, evidence }): WireLine => ({
      text,
      line,
      section,
      authority: authorityOf(evidence, sessions),
      evidence: evidence.map(({ thread, items }) => [sessions.places.get(thread) ?? thread, items]),
    }),
  );
}

/** The best of what the evidence is: a line that a person's words and an agent's stand behind is a person's. */
function authorityOf(evidence: WireEvidence, { speakers }: Sessions): Authority {
  if (evidence.length === 0) return 'none';
  const who = new Set<EvidenceRow['who'] | undefined>(
    evidence.flatMap(({ thread, items }) => items.map((n) => speakers.get(thread)?.get(n))),
  );
  return who.has('human') ? 'human' : who.has('tool') ? 'observed' : 'agent';
}

type WireEvidence = readonly { readonly thread: string; readonly items: readonly ItemNumber[] }[];

function skillsOf(files: Files): Map<string, { name: string; description: string }[]> {
  const skills = new Map<string, { name: string; description: string }[]>();
  for (const [path, text] of files) {
    const name = skillOf(path);
    if (name === null) continue;
    const front = parseFrontMatter(text);
    const description = front.outcome === 'read' ? front.data.description : '';
    const id = skillScope(text) ?? '';
    const skill = { name, description: typeof description === 'string' ? description : '' };
    skills.set(id, [...(skills.get(id) ?? []), skill]);
  }
  return skills;
}
