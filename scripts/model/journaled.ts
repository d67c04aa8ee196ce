import { type Journal, journalKey } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { Model, ModelRequest } from './types.ts';

export interface JournaledModel extends Model {
  /** The answer to this request could not be used; it is never given again, but stays paid. */
  reject(request: ModelRequest, why: string): Promise<void>;
}

/**
 * Asks only what the journal does not answer, under the ledger's caps, and records each answer before it is returned.
 * What earlier processes paid for counts in the ledger from the start, whether it is used again or not, until a saved row
 * is seen to tell it; what others did holds its place under the caps, and counts once it is asked for.
 * @throws (ask) ModelError `budget` before a request that could go over a cap; MemoryError when nothing can be recorded.
 */
export function createJournaledModel(model: Model, journal: Journal, ledger: Ledger): JournaledModel {
  for (const entry of journal.inherited) {
    const { purpose, subject, usage, usd, accounted, prepaid = false } = entry;
    const toldBy = journal.toldBy(entry);
    if (!accounted) ledger.record({ purpose, subject, usage, usd, replayed: true, prepaid, toldBy });
  }
  const places = new Map([...journal.offered].map(([key, offer]) => [key, ledger.hold(offer)]));
  return {
    async ask(request, signal) {
      const key = journalKey(request);
      const recorded = journal.find(key);
      if (recorded !== null) return recorded;
      const offer = journal.offered.get(key);
      places.get(key)?.release();
      // Another machine named the key and the session: both have to be of this request.
      if (offer !== undefined && offer.subject === request.subject) {
        const { purpose, subject, model } = request;
        const { reply, usage } = offer;
        const usd = offer.usd ?? ledger.priceOf(model, usage);
        ledger.record({ purpose, subject, usage, usd, replayed: true });
        return journal.put(key, request, reply, usd);
      }

      const reservation = ledger.reserve(request);
      try {
        journal.begin(request.subject, key);
        const reply = await model.ask(request, signal);
        reservation.settle(reply.usage);
        const kept = await journal.put(key, request, reply, ledger.priceOf(request.model, reply.usage));
        return kept;
      } finally {
        reservation.release();
        journal.end(request.subject);
      }
    },
    reject: (request, why) => journal.reject(journalKey(request), why),
  };
}
