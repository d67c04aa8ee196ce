import type { Oid } from '../shared/files.ts';
import { ForgeError } from './errors.ts';
import {
  bodyHash,
  type Draft,
  type Forge,
  type Found,
  type Outcome,
  type PullRequest,
  type Query,
  rejectLabel,
  type Wording,
} from './forge.ts';
import type { Host } from './host.ts';

/** The rules that hold on every host. */
export function createForge(host: Host): Forge {
  return {
    kind: host.kind,
    host: host.host,
    whoAmI: () => host.whoAmI(),
    repository: () => host.repository(),
    find: (query) => find(host, query),
    open: (draft) => open(host, draft),
    refresh: async (number, wording) => {
      const pull = await host.get(number);
      if (pull === null) throw goneError(number);
      return pull.state === 'open' ? reword(host, pull, wording) : { pullRequest: pull, changed: false, warnings: [] };
    },
  };
}

async function find(host: Host, { number, headBranch, base, tips = [] }: Query): Promise<Found> {
  const named = number === null ? null : await host.get(number);
  const recorded = named?.isFromHere && named.headBranch === headBranch ? named : null;
  if (recorded?.state === 'open') return { recorded, open: recorded };
  const { ours } = await lookAround(host, headBranch, base);
  const isUnknown = number === null && ours === null && tips.length > 0;
  return { recorded: isUnknown ? await endedWith(host, headBranch, tips) : recorded, open: ours };
}

/** As after a death between opening it and noting its number. */
async function endedWith(host: Host, headBranch: string, tips: readonly Oid[]): Promise<PullRequest | null> {
  const here = (await host.listEnded(headBranch)).filter(
    (pull) => pull.isFromHere && pull.headBranch === headBranch && pull.headOid !== null && tips.includes(pull.headOid),
  );
  if (here.length === 0) return null;
  const login = (await host.whoAmI()).toLowerCase();
  return here.find(({ author }) => author.toLowerCase() === login) ?? null;
}

interface Around {
  readonly ours: PullRequest | null;
  /** Opened by somebody else from the same branch. */
  readonly foreign: PullRequest | null;
}

async function lookAround(host: Host, headBranch: string, base: string): Promise<Around> {
  const here = (await host.listOpen(headBranch)).filter((pull) => pull.isFromHere && pull.headBranch === headBranch);
  if (here.length === 0) return { ours: null, foreign: null };
  const login = (await host.whoAmI()).toLowerCase();
  const own = here.filter(({ author }) => author.toLowerCase() === login);
  return {
    ours: own.find((pull) => pull.base === base) ?? own[0] ?? null,
    foreign: here.find((pull) => !own.includes(pull)) ?? null,
  };
}

async function open(host: Host, draft: Draft): Promise<Outcome> {
  const warnings: string[] = [];
  const created = await createOrAdopt(host, draft, warnings);
  const reworded = await reword(host, created, draft);
  warnings.push(...reworded.warnings);
  if (draft.reviewers.length > 0)
    warnings.push(
      ...(await eachOrAll(draft.reviewers, 'reviewer', (some) => host.askReviewers(reworded.pullRequest, some))),
    );
  warnings.push(...(await attempt(`label ${rejectLabel}`, () => host.offerLabel(rejectLabel, rejectDescription))));
  return { pullRequest: reworded.pullRequest, changed: true, warnings };
}

const rejectDescription = 'Closed with it: nothing of this pull request is learned again';

async function createOrAdopt(host: Host, draft: Draft, warnings: string[]): Promise<PullRequest> {
  try {
    return await host.create(draft);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (draft.draft && /draft/i.test(error.words) && error.kind === 'validation') {
      warnings.push('This repository knows no drafts: the pull request is ready for review at once.');
      return createOrAdopt(host, { ...draft, draft: false }, warnings);
    }
    if (error.kind !== 'taken') throw error;
    return adopt(host, draft, error);
  }
}

/** A list may lag behind what was created a moment ago. */
async function adopt(host: Host, draft: Draft, taken: ForgeError): Promise<PullRequest> {
  for (let look = 1; look <= looks; look += 1) {
    const { ours, foreign } = await lookAround(host, draft.headBranch, draft.base);
    if (ours !== null) return ours;
    if (foreign !== null) throw foreignError(foreign);
    if (look < looks) await host.wait(look);
  }
  throw taken;
}

const looks = 3;

async function reword(host: Host, pull: PullRequest, wording: Wording): Promise<Outcome> {
  const fields = {
    ...(pull.title === wording.title ? {} : { title: wording.title }),
    ...(pull.bodyHash === bodyHash(wording.body) ? {} : { body: wording.body }),
    ...(pull.base === wording.base ? {} : { base: wording.base }),
  };
  const isSame = Object.keys(fields).length === 0;
  const pullRequest = isSame ? pull : await host.update(pull, fields);
  const standing = new Set(pull.labels.map((label) => label.toLowerCase()));
  const missing = wording.labels.filter((label) => !standing.has(label.toLowerCase()));
  if (missing.length === 0) return { pullRequest, changed: !isSame, warnings: [] };
  const warnings = await eachOrAll(missing, 'label', (some) => host.addLabels(pullRequest, some));
  return { pullRequest, changed: !isSame || warnings.length < missing.length, warnings };
}

/** All at once; where that is refused one by one, so that a wrong name costs only itself. */
async function eachOrAll(
  names: readonly string[],
  what: string,
  send: (names: readonly string[]) => Promise<void>,
): Promise<string[]> {
  const refused = await attempt(`${what} ${names.join(', ')}`, () => send(names));
  if (refused.length === 0 || names.length === 1) return refused;
  const warnings: string[] = [];
  for (const name of names) warnings.push(...(await attempt(`${what} ${name}`, () => send([name]))));
  return warnings;
}

/** What is refused without harm becomes a warning; what stops everything flies. */
async function attempt(what: string, send: () => Promise<void>): Promise<string[]> {
  try {
    await send();
    return [];
  } catch (error) {
    if (!(error instanceof ForgeError) || !harmless.has(error.kind)) throw error;
    return [`Not set: ${what}. ${error.message}`];
  }
}

const harmless: ReadonlySet<string> = new Set(['rights', 'not_found', 'validation', 'taken']);

function foreignError({ number, author }: PullRequest): ForgeError {
  return new ForgeError(
    'taken',
    `Pull request ${number}, opened by ${author}, already proposes this branch; it was left as it is.`,
    'Close it, and the next night opens its own; or set another delivery.branch.',
  );
}

function goneError(number: number): ForgeError {
  return new ForgeError(
    'not_found',
    `There is no pull request ${number} any more, or this token does not see it.`,
    'Run it again: it looks for the open one, and opens one where there is none.',
    { status: 404 },
  );
}
