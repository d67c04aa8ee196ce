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
import { type Finding, inOrder } from './finding.ts';
import { inputFindings } from './inputs.ts';
import { memoryFindings, withPeoplesLines } from './memory.ts';
import { secretFindings } from './secrets.ts';
import { checkState } from './state.ts';
import type { Tree } from './tree.ts';

/** What is beside the tree to judge it by. */
export interface CheckBasis {
  /** The state ref's snapshot, which knows more than the published copy; null without the ref. */
  readonly stateOfRef: string | null;
  /** The memory files as the last night left them: what differs is people's. null where nobody knows. */
  readonly lastNight: Files | null;
  readonly audience: 'team' | 'person';
  readonly redactor: Redactor;
}

export interface CheckReport {
  readonly findings: readonly Finding[];
  /** False where there is no memory yet. */
  readonly exists: boolean;
  readonly files: number;
  readonly blocks: number;
  readonly bullets: number;
  readonly summaries: number;
  /** Bytes of the published state; 0 where there is none. */
  readonly stateBytes: number;
}

/** Judges memory files and state. Writes nothing, and believes nothing that the files say of themselves. */
export async function check(tree: Tree, basis: CheckBasis): Promise<CheckReport> {
  const { files } = tree;
  const memories = new Map([...files].filter(([path]) => path !== statePath));
  const text = files.get(statePath);
  const published = text === undefined ? null : await checkState(statePath, text);
  const ofRef = basis.stateOfRef === null ? null : await checkState(stateRef, basis.stateOfRef);
  const state = ofRef?.state ?? published?.state ?? null;
  const findings = [
    ...tree.odd,
    ...(published?.findings ?? []),
    ...(ofRef?.findings ?? []),
    ...(memories.size > 0 && published === null && ofRef === null ? [missingState] : []),
    ...inputFindings(memories, state),
    ...(await judged(memories, state, basis)),
    ...(await secretFindings(files, basis.redactor)),
  ];
  const { blocks } = parseHandbook(memories.get(handbookPath) ?? '');
  return {
    findings: inOrder(findings),
    exists: files.size > 0 || tree.odd.length > 0 || ofRef !== null,
    files: memories.size,
    blocks: blocks.length,
    bullets: blocks.reduce((sum, block) => sum + bulletsOf(block).length, 0),
    summaries: [...memories.keys()].filter((path) => stemOf(path) !== null).length,
    stateBytes: text === undefined ? 0 : Buffer.byteLength(text),
  };
}

/** Without a state nobody can say what evidence there is: that is told once, not line by line. */
async function judged(memories: Files, state: State | null, basis: CheckBasis): Promise<Finding[]> {
  const context = ruleContext(state ?? (await emptyState()), null, basis.audience);
  const known = basis.lastNight === null ? context : withPeoplesLines(context, basis.lastNight, memories);
  const found = memoryFindings(memories, known);
  return state === null ? found.filter(({ rule }) => !rule.startsWith('evidence.')) : found;
}

const missingState: Finding = {
  severity: 'error',
  rule: 'state.missing',
  path: statePath,
  line: 1,
  message: 'There are memories but no state, so nothing says what their evidence is.',
  remedy: wayBackOfCopy,
};
