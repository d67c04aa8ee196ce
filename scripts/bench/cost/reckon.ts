import type { Price } from '../../model/ledger.ts';

/** How much work a team's agents make. */
export interface Load {
  readonly repositories: number;
  readonly people: number;
  /** A day, of all repositories. */
  readonly sessions: number;
  /** Answers of the model in one conversation of phase 2. */
  readonly turns: number;
}

/** Tokens of one request of phase 1. */
export interface SessionTokens {
  /** Instructions and the answer's form: the same for every session, so that a server caches them. */
  readonly constant: number;
  /** What is known of the session, and the session. */
  readonly own: number;
  readonly output: number;
}

/** Tokens of one conversation of phase 2. */
export interface ConversationTokens {
  /** Instructions and tools: the same for every repository. */
  readonly constant: number;
  /** The files and the difference, told once at the beginning. */
  readonly opening: number;
  /** What the tools answer, all together. */
  readonly read: number;
  /** What the model writes, all together. */
  readonly written: number;
}

export interface Tokens {
  readonly session: SessionTokens;
  readonly conversation: ConversationTokens;
}

/** Of a night. `cached` is the part of `input` that a server's cache answers. */
export interface Used {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface Prices {
  readonly extract: Price;
  readonly consolidate: Price;
  /** What a batch of phase 1 costs of the usual price. */
  readonly batchShare: number;
}

export interface Reckoned {
  readonly phase1: Used & { readonly usd: number };
  readonly phase2: Used & { readonly usd: number };
  /** Dollars of phase 1 in batches, which no cache makes cheaper. */
  readonly batchUsd: number;
  /** Dollars of a night, and with phase 1 in batches. */
  readonly night: number;
  readonly nightInBatches: number;
}

/** What was remembered of sessions: lines that stand in the handbook after verification and consolidation. */
export interface Remembered {
  readonly sessions: number;
  readonly lines: number;
}

/** Dollars of one request of phase 1, and of one line that stays, everything else of its night included. */
export interface Each {
  readonly session: number;
  readonly sessionInBatches: number;
  /** null where no line stayed. */
  readonly line: number | null;
  readonly lineInBatches: number | null;
}

/** Days of a month, as a bill has them. */
export const monthDays = 30;

/**
 * What a night costs under a load: every session of the day is read once, and every repository and the scope `*` has one
 * conversation.
 */
export function reckon({ session, conversation }: Tokens, load: Load, prices: Prices): Reckoned {
  const one = usedBySessions(session, load.sessions);
  const two = usedByConversations(conversation, load.repositories + 1, load.turns);
  const phase1 = { ...one, usd: usdOf(one, prices.extract) };
  const phase2 = { ...two, usd: usdOf(two, prices.consolidate) };
  const batchUsd = usdOf({ ...one, cached: 0 }, prices.extract) * prices.batchShare;
  return { phase1, phase2, batchUsd, night: phase1.usd + phase2.usd, nightInBatches: batchUsd + phase2.usd };
}

/** @param remembered of sessions like those of the load. */
export function costOfEach({ phase1, batchUsd, night, nightInBatches }: Reckoned, remembered: Remembered): Each {
  const { requests: sessions } = phase1;
  const lines = (sessions * remembered.lines) / Math.max(1, remembered.sessions);
  return {
    session: phase1.usd / sessions,
    sessionInBatches: batchUsd / sessions,
    line: lines === 0 ? null : night / lines,
    lineInBatches: lines === 0 ? null : nightInBatches / lines,
  };
}

/** The first request finds nothing in the cache. */
function usedBySessions({ constant, own, output }: SessionTokens, sessions: number): Used {
  return {
    requests: sessions,
    input: sessions * (constant + own),
    cached: Math.max(0, sessions - 1) * constant,
    output: sessions * output,
  };
}

/** Each turn says again all that was said before, and a server has all of it but the last turn's cached. */
function usedByConversations(tokens: ConversationTokens, conversations: number, turns: number): Used {
  const { constant, opening, read, written } = tokens;
  const added = ((read + written) / turns) * (turns - 1);
  const again = turns * (constant + opening) + (added * turns) / 2;
  const fresh = opening + added;
  return {
    requests: conversations * turns,
    input: Math.round(conversations * again),
    cached: Math.round(conversations * (again - fresh) - constant),
    output: conversations * written,
  };
}

function usdOf({ input, cached, output }: Used, price: Price): number {
  const fresh = (input - cached) * price.input;
  return (fresh + cached * (price.cached ?? price.input) + output * price.output) / 1_000_000;
}
