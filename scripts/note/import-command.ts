import { join, resolve } from 'node:path';
import { isNoteRepository } from '../archive/note-file.ts';
import { type NoteOrigin, spoolNote, spoolOf } from '../archive/note-spool.ts';
import { laptopOf } from '../collect/laptop.ts';
import { readOwn, writeOwn } from '../collect/laptop-file.ts';
import { whyNoteStays } from '../collect/notes.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { withoutHomes } from '../rollout/home.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import { parsedJson } from '../shared/json.ts';
import type { World } from '../shared/main.ts';
import { createRedactor, type RedactionCounts } from '../shared/redact.ts';
import { sha256 } from '../shared/thread-id.ts';
import { judgeNote, type Note, noteLimits } from '../workspace/note.ts';
import type { NoteSetup } from './command.ts';
import { importable } from './flags.ts';
import { claudeMemories } from './from-claude.ts';
import { codexMemories } from './from-codex.ts';
import type { Found, Memories } from './memories.ts';
import { slugOf, timeName } from './name.ts';

/** A file that would be brought in. */
interface Ready {
  readonly note: Note;
  readonly repo: string;
  readonly from: string;
  readonly secrets: RedactionCounts;
  /** Of repository, file and words: what is known is not brought in again. */
  readonly hash: string;
}

/** Shows what an agent's own memory holds of included repositories, asks, and puts it into the spool. */
export async function importCommand(world: World, setup: NoteSetup): Promise<ExitCode> {
  const { flags, env, home, clock, ask } = world;
  const { state } = laptopOf(env, home);
  const record = join(spoolOf(state, setup.memory), 'imported.json');
  const known = new Set(hashesIn(await readOwn(record)));
  const { files, refused } = await memoriesOf(world, setup);
  const ready: Ready[] = [];
  const stayed = [...refused];
  for (const file of files) {
    const one = readyOf(file, world);
    if ('why' in one) stayed.push(one);
    else ready.push(one);
  }
  const fresh = ready.filter(({ hash }) => !known.has(hash));
  const facts = { fresh, same: ready.length - fresh.length, stayed };
  if (flags.isOn('dry-run') || fresh.length === 0)
    return tell(world, facts, fresh.length === 0 ? 'quiet' : 'would_import');
  if (!flags.isOn('yes')) {
    if (ask === null) throw new UsageError('Nobody can be asked here.', 'Look with --dry-run, then say --yes.');
    world.log.info(textOf(facts, 'would_import'));
    if (!/^y(es)?$/i.test((await ask('Bring these in? [y/N] ')).trim()))
      return tell(world, { ...facts, fresh: [] }, 'quiet');
  }
  const channel = `import-${flags.valueOf('import')}`;
  for (const { note, repo, hash } of fresh) {
    const origin: NoteOrigin = {
      kind: 'resource',
      authority: 'agent',
      channel,
      memory: setup.memory,
      repo,
      at: clock.now(),
    };
    await spoolNote(state, note, origin);
    known.add(hash);
  }
  await writeOwn(record, `${JSON.stringify([...known].sort(byBinary))}\n`);
  return tell(world, facts, 'imported');
}

async function memoriesOf({ flags, env, home, cwd }: World, { config }: NoteSetup): Promise<Memories> {
  const agent = importable.find((name) => name === flags.valueOf('import'));
  const named = flags.valueOf('repository') ?? null;
  if (named !== null && !isNoteRepository(named))
    throw new UsageError(`“${named.slice(0, 100)}” is no repository.`, 'Write host/owner/name.');
  if (named === '*') throw new UsageError('What is brought in belongs to one repository.', 'Write host/owner/name.');
  const place = {
    home,
    include: config.include,
    checkouts: checkoutsOnDisk(),
    named,
    whyStays: (repo: string) =>
      whyNoteStays(repo, { include: config.include, exclude: config.exclude, consented: config.include }),
  };
  const given = flags.valueOf('from');
  const from = given === undefined ? undefined : resolve(env.INIT_CWD || cwd, given);
  if (agent === 'codex') return codexMemories(from ?? join(env.CODEX_HOME || join(home, '.codex'), 'memories'), place);
  return claudeMemories(from ?? join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects'), place);
}

/** Without secrets, home folders and user names. */
function readyOf(
  { path, name, repo, text }: Found,
  { flags, env, home, clock }: World,
): Ready | { path: string; why: string } {
  const redactor = createRedactor(env);
  const { text: clean, counts } = redactor.redactCounted(withoutHomes(text, home));
  const hash = sha256(JSON.stringify([repo, name, clean])).slice(0, 16);
  const agent = flags.valueOf('import') ?? '';
  const slug = [agent, slugOf(repo.split('/').at(-1) ?? '', 24), slugOf(name, 24) || 'file', hash.slice(0, 8)].filter(
    Boolean,
  );
  const redact = (words: string) => redactor.redact(words);
  const judgement = judgeNote(`${timeName(clock.now())}-${slug.join('-')}.md`, clean, redact, noteLimits.resourceBytes);
  if (judgement.outcome === 'refused') return { path, why: `it ${judgement.fault}` };
  return { note: judgement.note, repo, from: path, secrets: counts, hash };
}

interface Facts {
  readonly fresh: readonly Ready[];
  readonly same: number;
  readonly stayed: Memories['refused'];
}

type Outcome = 'quiet' | 'would_import' | 'imported';

function tell({ flags, log }: World, facts: Facts, outcome: Outcome): ExitCode {
  const files = facts.fresh.map(({ note, repo, from, secrets }) => ({
    name: note.name,
    repo,
    from,
    bytes: Buffer.byteLength(note.text),
    secrets,
  }));
  const { same, stayed: refused } = facts;
  log.result(flags.isOn('json') ? jsonText({ outcome, files, same, refused }) : textOf(facts, outcome));
  return exitCodes.done;
}

function textOf({ fresh, same, stayed }: Facts, outcome: Outcome): string {
  const files = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`;
  const secrets = (counts: RedactionCounts): number => Object.values(counts).reduce((sum, times) => sum + times, 0);
  return [
    outcome === 'quiet'
      ? 'Nothing is brought in.'
      : `${outcome === 'imported' ? 'Brought in' : 'Would bring in'} ${files(fresh.length)}${outcome === 'imported' ? '; npm run collect sends what waits' : ''}.`,
    ...fresh.map(
      ({ note, repo, from, secrets: counts }) =>
        `  ${from} → ${repo}, ${Buffer.byteLength(note.text)} bytes, ${secrets(counts)} secrets removed`,
    ),
    ...(same === 0 ? [] : [`${files(same)} brought in before and unchanged.`]),
    ...stayed.map(({ path, why }) => `  stayed: ${path} (${why})`),
  ]
    .map((line) => terminalText(line))
    .join('\n');
}

function hashesIn(text: string | null): string[] {
  const value = parsedJson(text ?? '');
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
