import { noUsage } from '../model/usage.ts';
import { parseEvidence } from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { ruleContext } from '../state/rule-context.ts';
import { sectionHeadings } from '../workspace/block-lines.ts';
import { changesBetween } from '../workspace/changes.ts';
import { digestOfScopes, digestPath } from '../workspace/digest.ts';
import { bulletsOf, joinBlocks, parseHandbook, renderBlock } from '../workspace/handbook.ts';
import { splitHeader } from '../workspace/inputs.ts';
import { everywhere, handbookPath, isGenerated, memorySummaryPath, stemOf } from '../workspace/layout.ts';
import { lineHash, type Unit } from '../workspace/lines.ts';
import { repair } from '../workspace/repair.ts';
import { insertUnits } from '../workspace/restore.ts';
import { project, projectWritten, scopesOf, splice } from '../workspace/scope.ts';
import { itemsOf } from '../workspace/shrink.ts';
import { buildSummary } from '../workspace/summary.ts';
import type { RuleContext } from '../workspace/violation.ts';
import { type NoteBullet, noteBullets } from './builtin-notes.ts';
import {
  forgottenIn,
  withoutForgotten,
  withoutForgottenNotes,
  withoutGoneEntries,
  withoutHiddenBullets,
} from './forgotten.ts';
import { hashOf, type Prepared } from './prepare.ts';
import type { ConsolidationPolicy, MemoryStart } from './run.ts';
import type { Consolidator } from './types.ts';

/**
 * The scope `*`, as something to consolidate: blocks that hold in every repository, and the summary that opens every
 * session. It has no sessions of its own; what it reads is the digest of all scopes. It is made after them.
 */
export function prepareEverywhere(state: State, start: MemoryStart, policy: ConsolidationPolicy): Prepared {
  const context = ruleContext(state, everywhere, policy.audience);
  const forgotten = forgottenIn(state, everywhere);
  const own = withoutForgottenNotes(project(start.files, everywhere), forgotten, everywhere, context);
  const digest = withoutHiddenBullets(digestOfScopes(start.files), forgotten);
  const ready = new Map([...own, [digestPath, digest]]);
  const baseline = start.baseline.get(everywhere) ?? new Map<string, string>();
  const changes = changesBetween(withoutForgotten(withoutGoneEntries(baseline, ready), ready, forgotten), ready);
  const repositories = scopesOf(start.files).filter((scope) => scope !== everywhere);
  const summaries = new Map([...start.files].filter(([path]) => stemOf(path) !== null));
  const needs = changes.length > 0 ? 'consolidator' : isBroken(ready, summaries, context) ? 'code' : 'nothing';
  return {
    scope: everywhere,
    context,
    selection: { chosen: [], waiting: 0, forgotten: [] },
    rows: [],
    repositories,
    ready,
    summaries,
    changes,
    mode: own.has(memorySummaryPath) && baseline.size > 0 ? 'incremental' : 'init',
    deletedThreads: deletedThreads(own, baseline, summaries),
    inputHash: () => hashOf(ready),
    isHeld: false,
    isDue: needs !== 'nothing' && (repositories.length > 0 || own.size > 0),
    needs,
  };
}

/** Consolidates `*` by code: the blocks that stand, with persons' new notes for all, and the summary made from them. */
export function summaryConsolidator(state: State, files: Files, policy: ConsolidationPolicy): Consolidator {
  const context = ruleContext(state, everywhere, policy.audience);
  return {
    class: 'builtin',
    promptHash: '',
    consolidate: async (task) => ({
      files: withSummary(withPersonsNotes(task.files), files, context),
      usage: noUsage,
      turns: 0,
      end: 'finished',
    }),
  };
}

function withSummary(own: Files, files: Files, context: RuleContext): Files {
  return new Map([...own, [memorySummaryPath, buildSummary(splice(files, everywhere, own), context)]]);
}

const notesTitle = 'Everywhere';

/** Only a person's word holds in every repository; an agent's note waits in its file. */
function withPersonsNotes(own: Files): Files {
  const { preamble, blocks } = parseHandbook(own.get(handbookPath) ?? '');
  const cited = new Set(blocks.flatMap(bulletsOf).flatMap(({ evidence }) => itemsOf(evidence)));
  const fresh = noteBullets(own).filter(({ key, section }) => section === 'preferences' && !cited.has(key));
  if (fresh.length === 0) return own;
  const raws = blocks.map(({ raw }) => raw);
  const at = blocks.findIndex(({ title }) => title === notesTitle);
  if (at < 0) raws.push(notesBlock(fresh.map(({ text }) => text)));
  else raws[at] = insertUnits(raws[at] ?? '', fresh.map(unitOf));
  return new Map([...own, [handbookPath, joinBlocks(preamble, raws)]]);
}

function notesBlock(preferences: readonly string[]): string {
  return renderBlock({
    title: notesTitle,
    scopeLine: 'what people noted for all repositories',
    appliesTo: { repo: everywhere, cwd: 'any', reuseRule: 'holds in every repository' },
    tasks: [],
    bullets: { preferences, knowledge: [], failures: [] },
  });
}

function unitOf({ text }: NoteBullet): Unit {
  const raw = `- ${text}`;
  return { kind: 'bullet', hash: lineHash(raw), raw, evidence: [], heading: sectionHeadings.preferences, line: 0 };
}

/** What the next night's difference is taken against: the scope's own files, and for `*` the digest it was made from. */
export function baselineOf(files: Files, { scope, ready }: Prepared): Files {
  const read = [...ready].filter(([path]) => isGenerated(path) || path === digestPath);
  return new Map([...projectWritten(files, scope), ...read].sort(([a], [b]) => byBinary(a, b)));
}

/** Whether a block refers to a summary that is gone. */
function isBroken(ready: Files, summaries: Files, context: Prepared['context']): boolean {
  const handbook = ready.get(handbookPath);
  if (handbook === undefined) return false;
  return repair(new Map([...ready, ...summaries]), context).get(handbookPath) !== handbook;
}

/** Threads that blocks, or what they were made from, cite and whose summaries are gone: a line of theirs may go. */
function deletedThreads(own: Files, baseline: Files, summaries: Files): Set<string> {
  const living = new Set([...summaries.values()].map((text) => splitHeader(text).header.thread));
  const cited = [own.get(handbookPath), baseline.get(digestPath)].flatMap((text) => parseEvidence(text ?? ''));
  return new Set(cited.map(({ thread }) => thread).filter((thread) => !living.has(thread)));
}
