import type { Repository } from '../git/types.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { isTemplates, type Leaves, planUpgrade, type UpgradePlan } from './plan.ts';
import type { Version } from './template.ts';

/** A commit's files that are the template's to change, and those that are neither a file nor to be touched. */
export interface TemplateTree {
  readonly leaves: Leaves;
  /** Symbolic links and submodules. */
  readonly others: readonly string[];
}

export async function templateTree(repository: Repository, commit: Oid): Promise<TemplateTree> {
  const leaves = new Map<string, { oid: Oid; isExecutable: boolean }>();
  const others: string[] = [];
  for (const { path, kind, oid } of await repository.leaves(commit, [''])) {
    if (!isTemplates(path)) continue;
    if (kind === 'file' || kind === 'executable') leaves.set(path, { oid, isExecutable: kind === 'executable' });
    else others.push(path);
  }
  return { leaves, others };
}

export interface Prepared {
  readonly plan: UpgradePlan;
  /** Paths that are a link or a submodule here or there: left as they are. */
  readonly refused: readonly string[];
  /** What is written: path → bytes, null removes. */
  readonly changes: ReadonlyMap<string, Buffer | null>;
  readonly executable: ReadonlySet<string>;
}

/** What a commit of the upgrade holds, as values. */
export async function prepareUpgrade(
  ours: TemplateTree,
  template: Repository,
  { base, target }: { readonly base: Version; readonly target: Version },
): Promise<Prepared> {
  const before = await templateTree(template, base.commit);
  const after = await templateTree(template, target.commit);
  const refused = [...new Set([...ours.others, ...after.others])].sort(byBinary);
  const isFree = (path: string) => !refused.some((other) => path === other || path.startsWith(`${other}/`));
  const free = ({ leaves }: TemplateTree): Leaves => new Map([...leaves].filter(([path]) => isFree(path)));
  const plan = planUpgrade(free(before), free(ours), free(after));
  const taken = [...plan.take].flatMap(([path, leaf]) => (leaf === null ? [] : [{ path, ...leaf }]));
  const blobs = await template.readBlobs(taken.map(({ oid }) => oid));
  return {
    plan,
    refused,
    changes: new Map([
      ...[...plan.take].map(([path]): [string, Buffer | null] => [path, null]),
      ...taken.map(({ path }, index): [string, Buffer] => [path, blobs[index] ?? Buffer.alloc(0)]),
    ]),
    executable: new Set(taken.filter(({ isExecutable }) => isExecutable).map(({ path }) => path)),
  };
}
