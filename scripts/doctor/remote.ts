import { GitPushError } from '../git/remote-errors.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import { grewFrom } from '../nightly/begin.ts';
import { type FoundLease, readLeases } from '../nightly/lease-record.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import type { Oid } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { stateRef } from '../state/ref.ts';
import { type Finding, type Look, look, shown } from './finding.ts';

/** What the remote shows, and what this token may do there. */
export interface RemoteFacts {
  readonly url: string;
  readonly defaultBranch: string | null;
  /** Whether the branch that the configuration names is there; true where it names none. */
  readonly hasBase: boolean;
  readonly state: StateFacts;
  readonly leases: readonly FoundLease[];
  /** By the kind of ref; null: it may. */
  readonly refused: {
    readonly memory: GitPushError | null;
    /** Only asked where `memory` is refused. */
    readonly branches: GitPushError | null;
  };
  /** Whether anybody has collected sessions. */
  readonly hasRollouts: boolean;
}

/** This clone's `refs/memory/state` beside the remote's. */
export type StateFacts = 'none' | 'same' | 'missing' | 'older' | 'foreign';

export interface RemotePorts {
  readonly repository: Repository;
  readonly remote: Remote;
  readonly config: Config;
  /** Of this process alone: what the names of the refs that are tried come from. */
  readonly token: string;
  readonly author: Signature;
  readonly now: EpochSeconds;
}

/** Asks the remote what it holds, and tries with a ref that is deleted again whether this token may push. */
export function lookAtRemote(ports: RemotePorts, signal: AbortSignal): Promise<Look<RemoteFacts>> {
  return look(async () => {
    const { remote, repository, config } = ports;
    const head = await remote.head(signal);
    const { base } = config.delivery;
    const baseRef = base === undefined ? null : `refs/heads/${base}`;
    const refs = await remote.listRefs([stateRef, config.rollouts.ref, ...(baseRef === null ? [] : [baseRef])], signal);
    const leases = [...(await readLeases({ remote, repository }, signal)).values()];
    return {
      url: remote.url,
      defaultBranch: head?.branch ?? null,
      hasBase: baseRef === null || refs.has(baseRef),
      state: await stateFacts(ports, refs.get(stateRef) ?? null, signal),
      leases: leases.filter((lease) => lease !== null),
      refused: await tryPushes(ports, signal),
      hasRollouts: refs.has(config.rollouts.ref),
    };
  });
}

async function stateFacts(
  { repository, remote }: RemotePorts,
  shared: Oid | null,
  signal: AbortSignal,
): Promise<StateFacts> {
  const own = await repository.readRef(stateRef);
  if (own === null) return shared === null ? 'none' : 'missing';
  if (own === shared) return 'same';
  if (shared === null) return 'foreign';
  const fetched = (await remote.fetch([stateRef], { signal })).get(stateRef) ?? shared;
  return (await grewFrom(repository, fetched, own)) ? 'older' : 'foreign';
}

async function tryPushes(ports: RemotePorts, signal: AbortSignal): Promise<RemoteFacts['refused']> {
  const name = `memory/doctor-${sha256(ports.token).slice(0, 16)}`;
  const memory = await tryPush(`refs/${name}`, ports, signal);
  const branches = memory === null ? null : await tryPush(`refs/heads/${name}`, ports, signal);
  return { memory, branches };
}

async function tryPush(
  ref: string,
  { remote, repository, author, now }: RemotePorts,
  signal: AbortSignal,
): Promise<GitPushError | null> {
  const message = 'doctor: may this ref be pushed? It is deleted at once.\n';
  const next = await repository.writeCommit({ base: null, parents: [], changes: new Map(), message, author, at: now });
  try {
    await remote.push([{ ref, expected: null, next }], signal);
  } catch (error) {
    if (error instanceof GitPushError) return error;
    throw error;
  }
  await remote.push([{ ref, expected: next, next: null }], signal);
  return null;
}

/** What keeps nights from the remote. */
export function remoteFindings(remote: Look<RemoteFacts>, config: Config): Finding[] {
  if ('error' in remote)
    return [shown('remote', remote.error, 'Nights start from what the remote holds and end there.')];
  const { seen } = remote;
  return [...branchFindings(seen, config), ...stateFindings(seen.state), ...pushFindings(seen)];
}

function branchFindings({ url, defaultBranch, hasBase }: RemoteFacts, { delivery: { base } }: Config): Finding[] {
  if (defaultBranch === null)
    return [
      {
        severity: 'error',
        check: 'remote.default_branch',
        what: `${url} has no default branch`,
        why: 'Reviewed memory lives there, and code and configuration come from there.',
        remedy: 'Push one: git push origin HEAD:main',
      },
    ];
  if (!hasBase)
    return [
      {
        severity: 'error',
        check: 'remote.default_branch',
        what: `${url} has no branch ${base ?? ''}, which delivery.base names`,
        why: 'Pull requests are opened against it.',
        remedy: `Take delivery.base out of .github/memory.yml (the default branch is ${defaultBranch}), or push it: git push origin HEAD:${base ?? ''}`,
      },
    ];
  if (base === undefined || base === defaultBranch) return [];
  return [
    {
      severity: 'warning',
      check: 'remote.default_branch',
      what: `delivery.base is ${base}, and the default branch is ${defaultBranch}`,
      why: 'Schedules and readers use the default branch: what is merged into another reaches nobody.',
      remedy: `Write delivery.base: ${defaultBranch} into .github/memory.yml, or take it out.`,
    },
  ];
}

function stateFindings(state: StateFacts): Finding[] {
  switch (state) {
    case 'none':
    case 'same':
      return [];
    case 'missing':
    case 'older':
      return [
        {
          severity: 'warning',
          check: 'remote.refs_not_fetched',
          what: `This clone ${state === 'missing' ? 'does not have refs/memory/state' : 'has an older refs/memory/state'}`,
          why: 'status, check and sql show what it has; a plain git fetch does not bring it.',
          remedy: 'git fetch origin +refs/memory/state:refs/memory/state',
        },
      ];
    case 'foreign':
      return [
        {
          severity: 'error',
          check: 'remote.foreign_state',
          what: 'This clone’s refs/memory/state and the remote’s did not grow from each other',
          why: 'No night of this clone is delivered.',
          remedy:
            'npm run doctor -- --adopt remote (or local): both sides’ forgotten lines, citations and pinned lines are kept',
        },
      ];
  }
}

function pushFindings({ refused: { memory, branches } }: RemoteFacts): Finding[] {
  if (memory === null) return [];
  if (branches !== null) return [shown('remote.rights', branches, 'Nights push branches and refs below refs/memory/.')];
  return [
    {
      severity: 'error',
      check: 'remote.rights',
      what: `${memory.message} Branches may be pushed, so the lease would be refs/heads/memory/lease`,
      why: 'The state and the sessions live below refs/memory/, and cannot be kept there.',
      remedy:
        'Allow this token to push refs/memory/* (a rule or a hook of the server refuses it), then: npm run doctor',
    },
  ];
}
