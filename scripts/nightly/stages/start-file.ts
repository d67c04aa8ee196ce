import type { EpochSeconds } from '../../shared/clock.ts';
import type { Oid } from '../../shared/files.ts';
import type { HeldLease } from '../lease.ts';
import { leaseRefs } from '../lease-record.ts';
import type { Wishes } from '../policy.ts';
import type { FoundFacts, PullFacts, RemoteTips } from '../team-facts.ts';
import { type Fields, HandOverError, parseFields } from './fields.ts';
import { handOvers } from './folder.ts';

/** What claim decided: the other stages are told nothing else. */
export interface StartFile {
  /** The Actions run and attempt, elsewhere the lease's token. */
  readonly runId: string;
  readonly at: EpochSeconds;
  readonly lease: Pick<HeldLease, 'ref' | 'oid'> & { readonly token: string };
  readonly tips: RemoteTips;
  /** The sessions' ref and what it held; null where it does not exist. */
  readonly rollouts: { readonly ref: string; readonly oid: Oid | null };
  /** What the host said; null where it was not asked. */
  readonly pullRequest: FoundFacts | null;
  /** Threads that may be read. */
  readonly threads: readonly string[];
  /** Parts that as many jobs read before remember does; 1: none. */
  readonly shards: number;
  /** The run before this one, where it left no result: what its shards paid for is taken over. */
  readonly unfinished: string | null;
  /** What a person asked for. */
  readonly wishes: Pick<Wishes, 'now' | 'since'> & { readonly model: 'builtin' | 'openai' | null };
}

export function startFileOf(start: StartFile): Readonly<Record<string, unknown>> {
  return { format, ...start };
}

/** @throws HandOverError */
export function parseStartFile(text: string): StartFile {
  const file = parseFields(handOvers.start, text);
  if (file.count('format') !== format) throw new HandOverError(handOvers.start, `format should be ${format}`);
  const lease = file.fields('lease');
  const tips = file.fields('tips');
  const rollouts = file.fields('rollouts');
  const found = file.fieldsOrNull('pullRequest');
  const wishes = file.fields('wishes');
  return {
    runId: file.text('runId'),
    at: file.count('at'),
    lease: { ref: lease.oneOf('ref', ...leaseRefs), oid: lease.oid('oid'), token: lease.text('token') },
    tips: {
      base: tipOf(tips.fields('base')),
      proposal: tipOf(tips.fields('proposal')),
      state: tips.oidOrNull('state'),
    },
    rollouts: { ref: rollouts.text('ref', fullRef), oid: rollouts.oidOrNull('oid') },
    pullRequest: found && { recorded: pullOf(found, 'recorded'), open: pullOf(found, 'open') },
    threads: file.texts('threads'),
    shards: file.count('shards'),
    unfinished: file.textOrNull('unfinished'),
    wishes: {
      now: wishes.switch('now'),
      since: wishes.countOrNull('since'),
      model: wishes.textOrNull('model') === null ? null : wishes.oneOf('model', 'builtin', 'openai'),
    },
  };
}

const format = 1;

const fullRef = /^refs\/[\w./-]{1,200}$/;

function tipOf(tip: Fields): { ref: string; oid: Oid | null } {
  return { ref: tip.text('ref', fullRef), oid: tip.oidOrNull('oid') };
}

function pullOf(found: Fields, name: 'recorded' | 'open'): PullFacts | null {
  const pull = found.fieldsOrNull(name);
  return (
    pull && {
      number: pull.count('number'),
      url: pull.text('url'),
      state: pull.oneOf('state', 'open', 'closed', 'merged'),
      labels: pull.texts('labels'),
      headOid: pull.oidOrNull('headOid'),
    }
  );
}
