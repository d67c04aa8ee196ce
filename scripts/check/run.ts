import type { Rollouts } from '../rollout/source.ts';
import type { Files } from '../shared/files.ts';
import type { Redactor } from '../shared/redact.ts';
import { statePath } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { wayBackOfCopy } from '../state/errors.ts';
import { stateRef } from '../state/ref.ts';
import { ruleContext } from '../state/rule-context.ts';
import { emptyState } from '../state/snapshot.ts';
import { bulletsOf, parseHandbook } from '../workspace/handbook.ts';
import { handbookPath, stemOf } from '../workspace/layout.ts';
import type { RuleContext } from '../workspace/violation.ts';
import { againstBase, changedFiles, lineAt } from './base.ts';
import { budgetFindings } from './budgets.ts';
import { type Finding, inOrder } from './finding.ts';
import { forgottenFindings } from './forgotten.ts';
import { type Freshness, freshnessOf } from './freshness.ts';
import { inputFindings } from './inputs.ts';
import { instructionFindings } from './instructions.ts';
import { memoryFindings, withPeoplesLines } from './memory.ts';
import { bulletsIn, pairFindings } from './pairs.ts';
import type { AtHand } from './repositories.ts';
import { secretFindings } from './secrets.ts';
import { shrinkFindings } from './shrinkage.ts';
import { type Allowance, type Silenced, silence } from './silence.ts';
import { checkState } from './state.ts';
import type { Tree } from './tree.ts';
import { type Ground, groundOf, sessionsAtHand } from './words.ts';

/** What is beside the tree to judge it by. */
export interface CheckBasis {
  /** The state ref's snapshot, which knows more than the published copy; null without the ref. */
  readonly stateOfRef: string | null;
  /** The memory files as the last night left them: what differs is people's. null where nobody knows. */
  readonly lastNight: Files | null;
  readonly audience: 'team' | 'person';
  readonly redactor: Redactor;
  /** What stands where the change is proposed for: what is wrong there too is old. null: everything is new. */
  readonly base: Tree | null;
  /** The sessions themselves, redacted; null: lines are compared with what phase 1 wrote of them. */
  readonly rollouts: Rollouts | null;
  /** Repositories that the memory is about. */
  readonly repositories: readonly AtHand[];
  readonly allowances: readonly Allowance[];
}

export interface CheckReport extends Silenced {
  /** False where there is no memory yet. */
  readonly exists: boolean;
  readonly files: number;
  readonly blocks: number;
  readonly bullets: number;
  readonly summaries: number;
  /** Bytes of the published state; 0 where there is none. */
  readonly stateBytes: number;
  readonly ground: Ground;
  /** null where no repository is at hand. */
  readonly freshness: Omit<Freshness, 'findings'> | null;
}

/** Judges memory files and state. Writes nothing, and believes nothing that the files say of themselves. */
export async function check(tree: Tree, basis: CheckBasis): Promise<CheckReport> {
  const { files } = tree;
  const memories = memoriesOf(files);
  const judged = await judge(tree, basis, files);
  const { base } = basis;
  const old = base === null ? null : await judge(base, { ...basis, base: null }, changedFiles(base.files, files));
  const compared =
    base === null || old === null ? judged.findings : againstBase(judged.findings, files, old.findings, base.files);
  const { blocks } = parseHandbook(memories.get(handbookPath) ?? '');
  return {
    ...silence(inOrder(compared), basis.allowances, (path, line) => lineAt(files, path, line)),
    exists: files.size > 0 || tree.odd.length > 0 || basis.stateOfRef !== null,
    files: memories.size,
    blocks: blocks.length,
    bullets: blocks.reduce((sum, block) => sum + bulletsOf(block).length, 0),
    summaries: [...memories.keys()].filter((path) => stemOf(path) !== null).length,
    stateBytes: Buffer.byteLength(files.get(statePath) ?? ''),
    ground: judged.ground,
    freshness: judged.freshness,
  };
}

/** What the rules ask about a tree; null without a state that can be read. */
export async function contextOf(tree: Tree, basis: CheckBasis): Promise<RuleContext | null> {
  const { states } = await openStates(tree.files, basis);
  return states.length === 0 ? null : contextFor(memoriesOf(tree.files), states, basis);
}

interface Judged {
  readonly findings: readonly Finding[];
  readonly ground: Ground;
  readonly freshness: Omit<Freshness, 'findings'> | null;
}

/** @param scanned the files that are searched for secrets. */
async function judge(tree: Tree, basis: CheckBasis, scanned: Files): Promise<Judged> {
  const memories = memoriesOf(tree.files);
  const { state, states, findings: ofStates } = await openStates(tree.files, basis);
  const bullets = bulletsIn(memories);
  const context = await contextFor(memories, states, basis);
  const freshness =
    state === null || basis.repositories.length === 0 ? null : await freshnessOf(bullets, basis.repositories, state);
  const ofMemory = memoryFindings(memories, context);
  const base = basis.base === null ? null : memoriesOf(basis.base.files);
  return {
    findings: [
      ...tree.odd,
      ...ofStates,
      ...inputFindings(memories, states),
      // Without a state nobody can say what evidence there is: that is told once, not line by line.
      ...(state === null ? ofMemory.filter(({ rule }) => !rule.startsWith('evidence.')) : ofMemory),
      ...(state === null ? [] : forgottenFindings(memories, bullets, state, context)),
      ...budgetFindings(memories),
      ...pairFindings(bullets),
      ...shrinkFindings(base, basis.lastNight, memories),
      ...(freshness?.findings ?? []),
      ...(state === null ? [] : await instructionFindings(bullets, basis.repositories, state)),
      ...(await secretFindings(scanned, basis.redactor)),
    ],
    ground: groundOf(bullets, context),
    freshness: freshness === null ? null : countsOf(freshness),
  };
}

/**
 * `states`: whoever is asked about sessions, the first that knows one. The state ref may have let go of some while their
 * lines stand where nobody has merged that: the copy beside those knows them. A change's own copy is asked where there
 * is no ref.
 */
async function openStates(files: Files, { stateOfRef, base }: CheckBasis) {
  const text = files.get(statePath);
  const published = text === undefined ? null : await checkState(statePath, text);
  const ofRef = stateOfRef === null ? null : await checkState(stateRef, stateOfRef);
  const standing = base?.files.get(statePath);
  const beside = base === null ? published : standing === undefined ? null : await checkState(statePath, standing);
  const isMissing = memoriesOf(files).size > 0 && published === null && ofRef === null;
  return {
    state: ofRef?.state ?? published?.state ?? null,
    states: [ofRef?.state ?? published?.state, beside?.state].filter((state) => state != null),
    findings: [...(published?.findings ?? []), ...(ofRef?.findings ?? []), ...(isMissing ? [missingState] : [])],
  };
}

/** The rollouts, where they are at hand, say more than what phase 1 wrote of them. */
async function contextFor(memories: Files, [state, beside]: readonly State[], basis: CheckBasis): Promise<RuleContext> {
  const context = ruleContext(state ?? (await emptyState()), null, basis.audience);
  const older = beside === undefined ? null : ruleContext(beside, null, basis.audience);
  const sessions = await sessionsAtHand(bulletsIn(memories), basis.rollouts);
  const informed: RuleContext = {
    ...context,
    evidenceOf: (thread, item) => context.evidenceOf(thread, item) ?? older?.evidenceOf(thread, item) ?? null,
    sessionOf: (thread) => sessions.get(thread) ?? context.sessionOf?.(thread) ?? older?.sessionOf?.(thread) ?? null,
  };
  return basis.lastNight === null ? informed : withPeoplesLines(informed, basis.lastNight, memories);
}

function memoriesOf(files: Files): Files {
  return new Map([...files].filter(([path]) => path !== statePath));
}

function countsOf({ fresh, changed, gone, unknown }: Freshness): Omit<Freshness, 'findings'> {
  return { fresh, changed, gone, unknown };
}

const missingState: Finding = {
  severity: 'error',
  rule: 'state.missing',
  path: statePath,
  line: 1,
  message: 'There are memories but no state, so nothing says what their evidence is.',
  remedy: wayBackOfCopy,
};
