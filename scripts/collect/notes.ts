import { isNoteRepository } from '../archive/note-file.ts';
import { removeSpooled, type SpooledNote, spooledNotes } from '../archive/note-spool.ts';
import { addNotes, type CarryOutcome } from '../archive/notes.ts';
import { isIncluded } from '../rollout/identity.ts';
import { everywhere } from '../workspace/layout.ts';
import type { SendPolicy } from './decide.ts';
import type { Job } from './job.ts';

/** What waits on this laptop for the memory: notes, and what was brought in from other memories. */
export interface WaitingNotes {
  readonly ready: readonly SpooledNote[];
  readonly stayed: readonly StayedNote[];
}

export interface StayedNote {
  readonly name: string;
  readonly why: string;
}

export interface CarriedNotes {
  readonly carried: readonly { readonly name: string; readonly repo: string; readonly outcome: CarryOutcome }[];
  readonly stayed: readonly StayedNote[];
}

export async function waitingNotes({ laptop, setup, policy, ports }: Job): Promise<WaitingNotes> {
  const { redactor } = ports;
  const waiting = await spooledNotes(laptop.state, setup.memory, (text) => redactor.redact(text));
  const ready: SpooledNote[] = [];
  const stayed: StayedNote[] = [...waiting.refused];
  for (const spooled of waiting.notes) {
    const why = whyNoteStays(spooled.origin.repo, policy);
    if (why === null) ready.push(spooled);
    else stayed.push({ name: spooled.note.name, why });
  }
  return { ready, stayed };
}

/** The same rule as for sessions; what is for all repositories needs that this laptop sends here at all. */
export function whyNoteStays(
  repo: string,
  { include, exclude, consented }: Pick<SendPolicy, 'include' | 'exclude' | 'consented'>,
): string | null {
  if (repo === everywhere) return null;
  if (!isNoteRepository(repo)) return 'it belongs to no repository';
  if (isIncluded(repo, exclude)) return `exclude of .github/memory.yml names ${repo}`;
  if (!isIncluded(repo, include)) return `include of .github/memory.yml does not name ${repo}`;
  return isIncluded(repo, consented) ? null : `this laptop’s collect.yml does not allow ${repo}`;
}

/** What `carryNotes` would do where nothing of it stands there yet. */
export function wouldCarry({ ready, stayed }: WaitingNotes): CarriedNotes {
  return {
    carried: ready.map(({ note, origin }) => ({ name: note.name, repo: origin.repo, outcome: 'added' })),
    stayed,
  };
}

/**
 * Sends what waits, then takes it out of the spool: whoever dies in between finds it there already the next time.
 * @param allow throws where others than the team could read it.
 */
export async function carryNotes(
  { world, setup, laptop, ports }: Job,
  { ready, stayed }: WaitingNotes,
  allow: () => Promise<void>,
): Promise<CarriedNotes> {
  if (ready.length === 0) return { carried: [], stayed };
  await allow();
  const { clock, signal } = world;
  const notes = ready.map(({ note, origin: { kind, authority, channel, repo, at } }) => ({
    ...note,
    ...{ kind, authority, channel, repo, at },
    author: ports.author,
  }));
  const outcomes = await addNotes(setup.archive, notes, { clock, signal });
  for (const spooled of ready) await removeSpooled(laptop.state, spooled);
  return {
    carried: ready.map(({ note, origin }, at) => ({
      name: note.name,
      repo: origin.repo,
      outcome: outcomes[at] ?? 'same',
    })),
    stayed,
  };
}
