import { isNoteRepository } from '../archive/note-file.ts';
import { type NoteOrigin, spooledNotes, spoolNote, spoolOf } from '../archive/note-spool.ts';
import { laptopOf } from '../collect/laptop.ts';
import { whyNoteStays } from '../collect/notes.ts';
import type { Config } from '../shared/config-schema.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { everywhere } from '../workspace/layout.ts';
import { judgeNote, type Note } from '../workspace/note.ts';
import { importCommand } from './import-command.ts';
import { noteName } from './name.ts';
import { repositoryOf } from './place.ts';

/** What the entry script found out about the repository that it was started for. */
export interface NoteSetup {
  readonly config: Config;
  /** By this name a laptop allows it. */
  readonly memory: string;
}

/** Keeps a note, brings another memory in, or shows what waits. */
export async function noteCommand(world: World, setup: NoteSetup): Promise<ExitCode> {
  const { flags } = world;
  const [text] = flags.positionals;
  const wanted = [text !== undefined, flags.isOn('list'), flags.valueOf('import') !== undefined].filter(Boolean);
  if (wanted.length !== 1)
    throw new UsageError('Say one thing: a text, --list or --import.', 'npm run note -- "what is to be remembered"');
  if (flags.isOn('list')) return list(world, setup);
  if (text === undefined) return importCommand(world, setup);
  return keep(world, setup, text);
}

async function keep(world: World, { config, memory }: NoteSetup, text: string): Promise<ExitCode> {
  const { flags, env, home, clock, log } = world;
  const authority = authorityOf(world);
  const repo = await repositoryOf(world, config);
  requireReadable(repo, authority, config);
  const redactor = createRedactor(env);
  const { text: clean, counts } = redactor.redactCounted(text);
  const origin: NoteOrigin = { authority, channel: 'command-line', memory, repo, at: clock.now() };
  const isDry = flags.isOn('dry-run');
  const { state } = laptopOf(env, home);
  const redact = (words: string) => redactor.redact(words);
  const note = isDry
    ? judged(noteName(clean, clock.now(), 1), clean, redact)
    : await spooled(clean, origin, state, redact);
  if (flags.isOn('json')) {
    const outcome = isDry ? 'would_note' : 'noted';
    log.result(jsonText({ outcome, name: note.name, repo, authority, secrets: counts, text: note.text }));
    return exitCodes.done;
  }
  const removed = Object.entries(counts).map(([rule, times]) => `${rule} ${times}`);
  log.result(
    [
      `${isDry ? 'Would note' : 'Noted'} for ${repo === everywhere ? 'all repositories' : repo}, as ${authority === 'human' ? 'your' : 'an agent’s'} word: ${note.name}`,
      ...(removed.length === 0 ? [] : [`Secrets removed: ${removed.join(', ')}. What is left:`, note.text]),
      ...(isDry
        ? []
        : [`It waits in ${spoolOf(state, memory)} until npm run collect sends it, or a night here reads it.`]),
    ]
      .map((line) => terminalText(line))
      .join('\n'),
  );
  return exitCodes.done;
}

/** Only somebody at a terminal speaks for a person. @throws UsageError where nobody is and nobody said so. */
function authorityOf({ flags, ask }: World): 'human' | 'agent' {
  if (flags.isOn('agent')) return 'agent';
  if (ask !== null) return 'human';
  throw new UsageError(
    'Nobody sits at a terminal here, so this cannot be a person’s word.',
    'Type it at a terminal, or say that it is an agent’s: --agent.',
  );
}

/** @throws UsageError for a note that no night would read. */
function requireReadable(repo: string, authority: NoteOrigin['authority'], config: Config): void {
  if (repo === everywhere && authority === 'agent')
    throw new UsageError('What holds in every repository needs a person’s word.', 'Name one with --repository.');
  if (!isNoteRepository(repo))
    throw new UsageError(`“${repo.slice(0, 100)}” is no repository.`, 'Write host/owner/name, or "*" for all.');
  const why = whyNoteStays(repo, { include: config.include, exclude: config.exclude, consented: config.include });
  if (why !== null) throw new UsageError(`No night would read it: ${why}.`, 'Name another one with --repository.');
}

function judged(name: string, text: string, redact: (text: string) => string): Note {
  const judgement = judgeNote(name, text, redact);
  if (judgement.outcome === 'refused') throw new UsageError(`The note ${judgement.fault}.`, judgement.remedy);
  return judgement.note;
}

/** Of two in one second with the same words the second gets a number. */
async function spooled(
  text: string,
  origin: NoteOrigin,
  state: string,
  redact: (text: string) => string,
): Promise<Note> {
  for (let count = 1; ; count += 1) {
    const note = judged(noteName(text, origin.at, count), text, redact);
    if (await spoolNote(state, note, origin)) return note;
  }
}

async function list({ flags, env, home, log }: World, { memory }: NoteSetup): Promise<ExitCode> {
  const { redact } = createRedactor(env);
  const { notes, refused } = await spooledNotes(laptopOf(env, home).state, memory, redact);
  const rows = notes.map(({ note, origin: { repo, authority, channel, kind } }) => ({
    name: note.name,
    kind,
    repo,
    authority,
    channel,
    text: note.text,
  }));
  if (flags.isOn('json')) log.result(jsonText({ outcome: 'listed', notes: rows, refused }));
  else
    log.result(
      [
        rows.length === 0 ? 'Nothing waits.' : `${rows.length} ${rows.length === 1 ? 'waits' : 'wait'}:`,
        ...rows.map(
          ({ name, repo, authority, text }) =>
            `  ${name}  ${repo}  ${authority}  ${(text.split('\n')[0] ?? '').slice(0, 80)}`,
        ),
        ...refused.map(({ name, why }) => `  never sent: ${name} (${why})`),
      ]
        .map((line) => terminalText(line))
        .join('\n'),
    );
  return exitCodes.done;
}
