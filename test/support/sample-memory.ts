import type { CheckBasis } from '../../scripts/check/run.ts';
import { committedTree, type Tree } from '../../scripts/check/tree.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { firstMemory } from './memories.ts';
import { env } from './repository.ts';

export const handbook = 'memories/MEMORY.md';
export const raw = 'memories/raw_memories.md';
export const state = 'state.sqlite.json';

/** A tree judged by itself, with nothing beside it. */
export const alone: CheckBasis = {
  stateOfRef: null,
  lastNight: null,
  audience: 'team',
  redactor: createRedactor({}),
  base: null,
  rollouts: null,
  repositories: [],
  allowances: [],
};

let tree: Promise<Tree> | undefined;

/** What a real night made of the recorded sessions, as a value; the night is played once a file. */
export function sampleTree(): Promise<Tree> {
  tree ??= readTree();
  return tree;
}

async function readTree(): Promise<Tree> {
  const repository = await openRepository(await firstMemory(), { env });
  return committedTree(repository, (await repository.head()).oid);
}
