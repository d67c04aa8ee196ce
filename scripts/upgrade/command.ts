import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createRepository } from '../git/create.ts';
import { openRemote } from '../git/remote.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import type { Forge } from '../publish/forge.ts';
import { forgeOf } from '../publish/forge-of.ts';
import type { Config } from '../shared/config-schema.ts';
import { type ExitCode, exitCodes, MemoryError, UsageError } from '../shared/errors.ts';
import { jsonText } from '../shared/escape.ts';
import type { Oid } from '../shared/files.ts';
import type { CommandSpec } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { deliverHere, deliverThere, writeUpgrade } from './deliver.ts';
import { isTemplates } from './plan.ts';
import { prepareUpgrade, templateTree } from './prepare.ts';
import { type Template, versionsOf } from './template.ts';
import { type Told, upgradeBody, upgradeText, upgradeTitle } from './text.ts';
import { packageFacts } from './version.ts';

export const upgradeSpec: CommandSpec = {
  name: 'upgrade',
  purpose:
    'Takes the next version of scripts, prompts and workflows from the template, as one pull request or one commit on a new branch.',
  flags: {
    from: { kind: 'value', value: '<url>', help: 'the template (default: repository in package.json)' },
    ref: { kind: 'value', value: '<tag|branch>', help: 'what is taken (default: the newest release)' },
    base: {
      kind: 'value',
      value: '<tag|branch|commit>',
      help: 'what this repository came from (default: the tag of the version in package.json)',
    },
    'dry-run': { kind: 'switch', help: 'say what would be taken, and write nothing' },
    repo: { kind: 'value', value: '<dir>', help: 'the repository that is upgraded (default: this one)' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: ['npm run upgrade -- --dry-run', 'npm run upgrade', 'npm run upgrade -- --ref v1.2.0'],
};

/** A repository that is upgraded. */
export interface Checkout {
  readonly repository: Repository;
  readonly config: Config;
  readonly author: Signature;
}

/** @returns 3 where files were left alone because both sides changed them. */
export async function upgradeCommand(world: World, checkout: Checkout): Promise<ExitCode> {
  const { repository, config } = checkout;
  const target = config.delivery.mode === 'commit' ? null : await openTarget(world, checkout);
  const place = target ?? (await headOf(repository));
  await refuseUncommitted(repository, place.commit);
  const facts = packageFacts((await repository.readFiles(place.commit, ['package.json'])).get('package.json') ?? null);
  const from = world.flags.valueOf('from') ?? facts.repository;
  if (from === null)
    throw new UsageError(
      'Where the template is cannot be told: package.json names no repository.',
      'Name it: --from <url>',
    );
  return withTemplate(repository, from, world, async (template) => {
    const { flags, signal, log } = world;
    const wanted = { ref: flags.valueOf('ref') ?? null, base: flags.valueOf('base') ?? null, version: facts.version };
    const versions = await versionsOf(template, wanted, signal);
    const prepared = await prepareUpgrade(await templateTree(repository, place.commit), template.repository, versions);
    const told: Told = { from: template.remote.url, ...versions, prepared };
    const outcome = prepared.changes.size === 0 ? nothing : await deliver(told, place, template, checkout, world);
    for (const path of prepared.plan.conflicts)
      log.warn(`${path} was changed here and in the template: left as it is.`);
    log.result(flags.isOn('json') ? jsonText(jsonOf(told, outcome)) : upgradeText(told, outcome.words));
    return prepared.plan.conflicts.length > 0 ? exitCodes.partly : exitCodes.done;
  });
}

/** The commit that an upgrade is built on, and where it goes. */
interface Place {
  readonly commit: Oid;
  /** The branch's name. */
  readonly branch: string;
  /** null: it stays here. */
  readonly remote: Remote | null;
  readonly forge: Forge | null;
}

const remoteName = 'origin';

async function openTarget({ env, signal }: World, { repository, config }: Checkout): Promise<Place> {
  const { delivery } = config;
  const token = env[delivery.token_env] ?? '';
  const remote = await openRemote(repository, { name: remoteName, token: token === '' ? undefined : token, env });
  const branch = delivery.base ?? (await remote.head(signal))?.branch ?? 'main';
  const commit = (await remote.fetch([`refs/heads/${branch}`], { signal })).get(`refs/heads/${branch}`) ?? null;
  if (commit === null)
    throw new MemoryError(`${remote.url} has no branch ${branch}.`, 'Push it first, or correct delivery.base.');
  const isProposed = delivery.mode === 'pull-request';
  const forge = isProposed ? forgeOf({ remoteUrl: remote.url, delivery, token, env, signal }) : null;
  return { commit, branch, remote, forge };
}

async function headOf(repository: Repository): Promise<Place> {
  const head = await repository.head();
  if (head.oid === null)
    throw new MemoryError('This branch has no commit yet, so there is nothing to upgrade.', 'Commit something first.');
  return { commit: head.oid, branch: head.kind === 'branch' ? head.ref : 'HEAD', remote: null, forge: null };
}

/** What is edited here would be compared with as if it were not. */
async function refuseUncommitted(repository: Repository, commit: Oid): Promise<void> {
  const leaves = await repository.leaves(commit, ['']);
  const tops = [...new Set(leaves.filter(({ path }) => isTemplates(path)).map(({ path }) => path.split('/')[0] ?? ''))];
  const edited = (await repository.uncommitted(tops)).filter(isTemplates);
  if (edited.length === 0) return;
  const shown = edited.slice(0, 5).join(', ');
  throw new MemoryError(
    `Not committed: ${shown}${edited.length > 5 ? ` and ${edited.length - 5} more` : ''}. Nothing was taken.`,
    'Commit them, or take them back (git restore .), then run it again.',
  );
}

/** Fetches the template into a repository of its own, which is gone afterwards: none of its refs get among ours. */
async function withTemplate<T>(
  repository: Repository,
  url: string,
  { env }: World,
  work: (template: Template) => Promise<T>,
): Promise<T> {
  const parent = join(repository.commonDir, 'memory');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'upgrade-'));
  try {
    const own = await createRepository(folder, { branch: 'main', env });
    return await work({ repository: own, remote: await openRemote(own, { url, env }) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Delivered {
  readonly kind: 'nothing' | 'dry_run' | 'committed' | 'pushed' | 'proposed';
  readonly commit: Oid | null;
  readonly url: string | null;
  readonly words: string;
}

const nothing: Delivered = { kind: 'nothing', commit: null, url: null, words: 'Nothing to take.' };

async function deliver(
  told: Told,
  { commit: base, branch, remote, forge }: Place,
  template: Template,
  { repository, config, author }: Checkout,
  { flags, signal, log }: World,
): Promise<Delivered> {
  if (flags.isOn('dry-run')) return { kind: 'dry_run', commit: null, url: null, words: 'Nothing was written.' };
  const { at } = await template.repository.readCommit(told.target.commit);
  const commit = await writeUpgrade(repository, base, told.prepared, { versions: told, author, at });
  if (remote === null) {
    await deliverHere(repository, commit);
    const words = 'branch    memory/upgrade: look at it, then git merge memory/upgrade && npm ci';
    return { kind: 'committed', commit, url: null, words };
  }
  const { labels, reviewers, draft } = config.delivery;
  const wording = { title: upgradeTitle(told), body: upgradeBody(told), base: branch };
  const request = { ...wording, labels, reviewers, draft };
  const opened = await deliverThere(repository, remote, forge, { commit, author, request }, signal);
  for (const warning of opened?.warnings ?? []) log.warn(warning);
  if (opened === null) {
    const words = 'branch    memory/upgrade is pushed: open its pull request by hand';
    return { kind: 'pushed', commit, url: null, words };
  }
  const { number, url } = opened.pullRequest;
  return { kind: 'proposed', commit, url, words: `pull      ${number} ${url}` };
}

function jsonOf({ from, base, target, prepared }: Told, { kind, commit, url }: Delivered): Record<string, unknown> {
  return {
    outcome: kind,
    from,
    base: base.name,
    target: target.name,
    taken: [...prepared.changes].map(([path, content]) => ({ path, removed: content === null })),
    kept: prepared.plan.kept,
    conflicts: prepared.plan.conflicts,
    refused: prepared.refused,
    commit,
    pull_request: url,
  };
}
