import { type BatchRecord, batchFields, batchFrom } from '../model/batch-record.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { StateTreeError } from './errors.ts';

/** `night.json`: what the last nights did to the repository's refs. */
export interface NightRecord {
  /** Ref → the commit that our memory last reached there. */
  readonly recordedTips: Readonly<Record<string, Oid>>;
  /** A push that was begun and is not known to have ended. */
  readonly pendingPush: PendingPush | null;
  readonly pullRequest: { readonly number: number; readonly url: string } | null;
  /** The default branch as it was seen last. */
  readonly defaultBranchOid: Oid | null;
  readonly startedRun: StartedRun | null;
  readonly lastRun: { readonly runId: string; readonly finishedAt: EpochSeconds } | null;
  /** Requests of phase 1 that a model's server answers later, the oldest batch first. */
  readonly batches: readonly BatchRecord[];
}

export interface PendingPush {
  readonly runId: string;
  readonly ref: string;
  /** What the ref was before; null where it did not exist. */
  readonly oldOid: Oid | null;
  readonly tip: Oid;
}

/** A run that took the lease. Without a result it counts an attempt for its threads and its whole allowance. */
export interface StartedRun {
  readonly runId: string;
  readonly startedAt: EpochSeconds;
  readonly threads: readonly string[];
  readonly allowanceTokens: number;
}

export const emptyNightRecord: NightRecord = {
  recordedTips: {},
  pendingPush: null,
  pullRequest: null,
  defaultBranchOid: null,
  startedRun: null,
  lastRun: null,
  batches: [],
};

/** Equal records are equal texts: fixed order of fields, refs in binary order. */
export function formatNightRecord(record: NightRecord): string {
  const { pendingPush, pullRequest, startedRun, lastRun } = record;
  const ordered = {
    format,
    recordedTips: Object.fromEntries(Object.entries(record.recordedTips).sort(([a], [b]) => byBinary(a, b))),
    pendingPush: pendingPush && {
      runId: pendingPush.runId,
      ref: pendingPush.ref,
      oldOid: pendingPush.oldOid,
      tip: pendingPush.tip,
    },
    pullRequest: pullRequest && { number: pullRequest.number, url: pullRequest.url },
    defaultBranchOid: record.defaultBranchOid,
    startedRun: startedRun && {
      runId: startedRun.runId,
      startedAt: startedRun.startedAt,
      threads: startedRun.threads,
      allowanceTokens: startedRun.allowanceTokens,
    },
    lastRun: lastRun && { runId: lastRun.runId, finishedAt: lastRun.finishedAt },
    ...(record.batches.length > 0 && { batches: record.batches.map(batchFields) }),
  };
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** @throws StateTreeError naming the field, or that a newer version wrote it. */
export function parseNightRecord(text: string): NightRecord {
  const fields = objectOf(parseJson(text), 'the file');
  if (fields.format !== format) {
    const isNewer = typeof fields.format === 'number' && fields.format > format;
    if (isNewer)
      throw new StateTreeError(`night.json has format ${fields.format}, this version knows ${format}.`, update);
    throw wrong('format', `the number ${format}`);
  }
  refuseUnknown(fields, Object.keys({ format, ...emptyNightRecord }), 'the file');
  return {
    recordedTips: tipsOf(fields.recordedTips),
    pendingPush: fields.pendingPush === null ? null : pendingPushOf(fields.pendingPush),
    pullRequest: fields.pullRequest === null ? null : pullRequestOf(fields.pullRequest),
    defaultBranchOid: fields.defaultBranchOid === null ? null : oidOf(fields.defaultBranchOid, 'defaultBranchOid'),
    startedRun: fields.startedRun === null ? null : startedRunOf(fields.startedRun),
    lastRun: fields.lastRun === null ? null : lastRunOf(fields.lastRun),
    batches: fields.batches === undefined ? [] : batchesOf(fields.batches),
  };
}

const format = 1;

const update = 'Update this checkout: take the scripts of the default branch (git pull), then npm ci.';

const wayBack = 'The commit before has the last good one: its parent, git log refs/memory/state.';

type Fields = Readonly<Record<string, unknown>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StateTreeError(`night.json is no valid JSON: ${messageOf(error)}.`, wayBack, { cause: error });
  }
}

function tipsOf(value: unknown): Record<string, Oid> {
  const tips = Object.entries(objectOf(value, 'recordedTips'));
  return Object.fromEntries(tips.map(([ref, oid]) => [ref, oidOf(oid, `recordedTips.${ref}`)]));
}

function pendingPushOf(value: unknown): PendingPush {
  const fields = fieldsOf(value, 'pendingPush', ['runId', 'ref', 'oldOid', 'tip']);
  return {
    runId: textOf(fields.runId, 'pendingPush.runId'),
    ref: textOf(fields.ref, 'pendingPush.ref'),
    oldOid: fields.oldOid === null ? null : oidOf(fields.oldOid, 'pendingPush.oldOid'),
    tip: oidOf(fields.tip, 'pendingPush.tip'),
  };
}

function pullRequestOf(value: unknown): NightRecord['pullRequest'] {
  const fields = fieldsOf(value, 'pullRequest', ['number', 'url']);
  return { number: countOf(fields.number, 'pullRequest.number'), url: textOf(fields.url, 'pullRequest.url') };
}

function startedRunOf(value: unknown): StartedRun {
  const fields = fieldsOf(value, 'startedRun', ['runId', 'startedAt', 'threads', 'allowanceTokens']);
  if (!Array.isArray(fields.threads)) throw wrong('startedRun.threads', 'a list');
  return {
    runId: textOf(fields.runId, 'startedRun.runId'),
    startedAt: countOf(fields.startedAt, 'startedRun.startedAt'),
    threads: fields.threads.map((thread) => textOf(thread, 'startedRun.threads')),
    allowanceTokens: countOf(fields.allowanceTokens, 'startedRun.allowanceTokens'),
  };
}

function lastRunOf(value: unknown): NightRecord['lastRun'] {
  const fields = fieldsOf(value, 'lastRun', ['runId', 'finishedAt']);
  return { runId: textOf(fields.runId, 'lastRun.runId'), finishedAt: countOf(fields.finishedAt, 'lastRun.finishedAt') };
}

function batchesOf(value: unknown): BatchRecord[] {
  if (!Array.isArray(value)) throw wrong('batches', 'a list');
  return value.map((one, at) => {
    const batch = batchFrom(one);
    if (batch === null) throw wrong(`batches[${at}]`, 'the record of a batch');
    return batch;
  });
}

function fieldsOf(value: unknown, name: string, known: readonly string[]): Fields {
  const fields = objectOf(value, name);
  refuseUnknown(fields, known, name);
  return fields;
}

function objectOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(name, 'an object');
  return Object.fromEntries(Object.entries(value));
}

/** What another version wrote beside it would be lost with the next night. */
function refuseUnknown(fields: Fields, known: readonly string[], name: string): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined) throw new StateTreeError(`night.json: ${name} has an unknown field ${unknown}.`, update);
}

function oidOf(value: unknown, name: string): Oid {
  if (typeof value !== 'string' || !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) throw wrong(name, 'a commit id');
  return value;
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw wrong(name, 'a text');
  return value;
}

function countOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(name, 'an integer');
  return value;
}

function wrong(name: string, expected: string): StateTreeError {
  return new StateTreeError(`night.json: ${name} should be ${expected}.`, wayBack);
}
