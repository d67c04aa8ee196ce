import { byBinary } from '../shared/files.ts';
import { ModelError } from './errors.ts';
import { type Journal, journalKey } from './journal.ts';
import type { JournaledModel } from './journaled.ts';
import type { Ledger, Reservation } from './ledger.ts';
import type { ModelRequest } from './types.ts';

/** A request that is to go into the next batch, its place under the caps held. */
export interface Gathered {
  readonly key: string;
  readonly request: ModelRequest;
  readonly reservation: Reservation;
}

/**
 * A model that lets the first request of a rollout wait for a batch. What a batch answered is in the journal; what it
 * failed is told once; everything else is asked at once: a repair, a shorter input, more room. Those are few, and would
 * each keep a session waiting another night for a request whose first half is paid.
 */
export interface GatheringModel extends JournaledModel {
  /** By key. */
  gathered(): readonly Gathered[];
  /** A few words in the form of what was gathered, to learn what the server takes; null where nothing was. */
  trial(): Omit<Gathered, 'key'> | null;
  /** Forgets what was gathered. What stands in a batch keeps its place under the caps. */
  forget(): void;
  /** Whether this process has not yet taken in a batch's answer to it. */
  takesIn(key: string): boolean;
  /** What became of a request in a batch: who asks it tonight is told. */
  fail(key: string, error: ModelError): void;
  /** The next batch holds so many requests at most. */
  limit(requests: number): void;
}

export interface GatheringTerms {
  /** Whether anything is gathered at all. */
  readonly isOn: boolean;
  /** Share of the usual price. */
  readonly share: number;
}

/** @throws (ask) ModelError `deferred` for what was gathered, `budget` for what the caps or the batch have no room for. */
export function createGatheringModel(
  model: JournaledModel,
  journal: Journal,
  ledger: Ledger,
  { isOn, share }: GatheringTerms,
): GatheringModel {
  const gathered = new Map<string, Gathered>();
  const failures = new Map<string, ModelError>();
  const taken = new Set<string>();
  let trial: Omit<Gathered, 'key'> | null = null;
  let most = mostRequests;
  let bytes = 0;
  return {
    async ask(request, signal) {
      const isFirst = request.purpose === 'phase1' && request.attempt === 1;
      if (!isFirst || (!isOn && failures.size === 0)) return model.ask(request, signal);
      const key = journalKey(request);
      const failure = failures.get(key);
      if (journal.find(key) !== null || journal.offered.has(key)) return model.ask(request, signal);
      if (failure !== undefined) throw failure;
      if (!isOn) return model.ask(request, signal);
      if (!gathered.has(key)) {
        const size = request.messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
        if (gathered.size >= most || bytes + size > mostBytes) throw full();
        trial ??= { request: trialOf(request), reservation: ledger.reserve(trialOf(request)) };
        gathered.set(key, { key, request, reservation: ledger.reserve(request, share) });
        bytes += size;
      }
      throw deferred();
    },
    reject: (request, why) => model.reject(request, why),
    gathered: () => [...gathered.values()].sort((a, b) => byBinary(a.key, b.key)),
    trial: () => trial,
    forget() {
      trial?.reservation.release();
      trial = null;
      gathered.clear();
      bytes = 0;
    },
    takesIn(key) {
      const isNew = !taken.has(key);
      taken.add(key);
      return isNew;
    },
    fail: (key, error) => failures.set(key, error),
    limit(requests) {
      most = Math.max(1, Math.min(most, requests));
    },
  };
}

/** @source the Batch API's limit for one input file */
const mostRequests = 50_000;

/** Of the requests' texts: below the Batch API's 200 MB when it is JSON, and few enough to be held in memory. */
const mostBytes = 80_000_000;

/** It is of no matter whether its answer is whole. */
function trialOf(request: ModelRequest): ModelRequest {
  const text = 'This is a trial. Answer with empty texts.';
  return { ...request, subject: 'trial of a batch', messages: [{ role: 'user', text }], maxOutputTokens: 256 };
}

function deferred(): ModelError {
  return new ModelError('deferred', 'The request goes into the next batch.', 'A later night has its answer.');
}

function full(): ModelError {
  return new ModelError('budget', 'The next batch is full.', 'Nothing to do: the rest goes into the one after it.');
}
