import { byBinary } from '../shared/files.ts';
import { ModelError } from './errors.ts';
import { mostOf, type Spending, sumOf } from './spending.ts';
import type { ModelRequest, Usage } from './types.ts';

/** US dollars for a million tokens. `cached` is the price of the input tokens that the server had cached. */
export interface Price {
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
}

export type Purpose = ModelRequest['purpose'];

/** What a purpose may spend: input and output tokens together, and dollars. Absent is without limit. */
export interface Cap {
  readonly tokens?: number;
  readonly usd?: number;
}

export interface LedgerOptions {
  /** By the model's name as it is asked for. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly caps?: Partial<Readonly<Record<Purpose, Cap>>>;
  /** Dollars that all purposes together may spend. */
  readonly usd?: number;
}

export interface Entry {
  readonly purpose: Purpose;
  readonly subject: string;
  readonly usage: Usage;
  /** null where the model has no configured price. */
  readonly usd: number | null;
  /** Whether an earlier process paid for it and the journal gave the answer. */
  readonly replayed: boolean;
  /** A batch's: the caps counted it when it was asked for. */
  readonly prepaid?: boolean;
  /** What an earlier process paid for: the runs whose row, where it was saved, tells it. */
  readonly toldBy?: readonly string[];
}

export interface Total {
  /** Requests that were answered, however often each was sent. */
  readonly answers: number;
  readonly usage: Usage;
  /** Dollars of everything that has a price. */
  readonly usd: number;
  /** Requests whose model has no configured price. */
  readonly unpriced: number;
  /** The part of `usage.requests` that the journal answered. */
  readonly replayed: number;
}

/** Holds a request's place under the caps until its outcome is known. */
export interface Reservation {
  /** What is held: the most that the request can use. */
  readonly most: Spending;
  /** The answer came: what it really cost. */
  settle(usage: Usage): void;
  /** No answer came. */
  release(): void;
}

/** What has been spent and what may be. One for a night; replayed answers count as well. */
export interface Ledger {
  /**
   * @param share of the price that is asked for it: 1.
   * @throws ModelError `budget` when the request could go over a cap, requests under way counted at their most.
   */
  reserve(request: ModelRequest, share?: number): Reservation;
  /** Keeps the place of what others paid for and may be taken over; it is there already, so no cap refuses it. */
  hold(paid: Pick<Entry, 'purpose' | 'usage' | 'usd'>): Pick<Reservation, 'release'>;
  priceOf(model: string, usage: Usage): number | null;
  record(entry: Entry): void;
  /** The run's row tells all that is recorded so far. */
  tell(run: string): void;
  /**
   * What a saved row tells is told: it leaves the totals, and the dollars that are counted, since the month has it from
   * that row. The tokens of tonight still count against its caps.
   */
  settle(isSaved: (run: string) => boolean): void;
  /** From now on so many dollars for all purposes together, what is recorded among them. */
  allow(usd: number): void;
  total(purpose?: Purpose): Total;
  /** Totals by subject, in binary order. */
  bySubject(purpose: Purpose): ReadonlyMap<string, Total>;
}

export function createLedger(options: LedgerOptions = {}): Ledger {
  let most = options.usd;
  let entries: Told[] = [];
  const spent = new Map<Purpose, Spending>();
  const reserved = new Map<Purpose, Spending>();

  return {
    reserve(request, share = 1) {
      const whole = mostOf(request);
      const place = { tokens: whole.input + whole.output, usd: share * (priceOf(request.model, whole) ?? 0) };
      check(request.purpose, place);
      const { release } = keep(request.purpose, place);
      return {
        most: place,
        release,
        settle(usage) {
          release();
          const { purpose, subject, model } = request;
          record({ purpose, subject, usage, usd: priceOf(model, usage), replayed: false });
        },
      };
    },
    hold: ({ purpose, usage, usd }) => keep(purpose, { tokens: usage.input + usage.output, usd: usd ?? 0 }),
    priceOf,
    record,
    tell: (run) => {
      for (const { runs } of entries) runs.add(run);
    },
    settle(isSaved) {
      const isTold = ({ runs }: Told) => [...runs].some(isSaved);
      for (const { purpose, usage, usd, prepaid, toldBy } of entries.filter(isTold)) {
        const tokens = toldBy?.some(isSaved) ? usage.input + usage.output : 0;
        if (prepaid !== true) add(spent, purpose, { tokens: -tokens, usd: -(usd ?? 0) });
      }
      entries = entries.filter((entry) => !isTold(entry));
    },
    allow: (usd) => {
      most = usd;
    },
    total: (purpose) => totalOf(entries.filter((entry) => purpose === undefined || entry.purpose === purpose)),
    bySubject(purpose) {
      const groups = new Map<string, Entry[]>();
      for (const entry of entries.filter((each) => each.purpose === purpose)) {
        const group = groups.get(entry.subject);
        if (group === undefined) groups.set(entry.subject, [entry]);
        else group.push(entry);
      }
      return new Map(
        [...groups].sort(([a], [b]) => byBinary(a, b)).map(([subject, group]) => [subject, totalOf(group)]),
      );
    },
  };

  function keep(purpose: Purpose, place: Spending): Pick<Reservation, 'release'> {
    add(reserved, purpose, place);
    let isOpen = true;
    return {
      release: () => {
        if (isOpen) add(reserved, purpose, { tokens: -place.tokens, usd: -place.usd });
        isOpen = false;
      },
    };
  }

  function record(entry: Entry): void {
    entries.push({ ...entry, runs: new Set(entry.toldBy) });
    if (entry.prepaid !== true)
      add(spent, entry.purpose, { tokens: entry.usage.input + entry.usage.output, usd: entry.usd ?? 0 });
  }

  function priceOf(model: string, usage: Usage): number | null {
    const price = Object.hasOwn(options.prices ?? {}, model) ? options.prices?.[model] : undefined;
    if (price === undefined) return null;
    const fresh = usage.input - usage.cached;
    const dollars = fresh * price.input + usage.cached * (price.cached ?? price.input) + usage.output * price.output;
    return dollars / 1_000_000;
  }

  function check(purpose: Purpose, wanted: Spending): void {
    const cap = options.caps?.[purpose];
    const now = sumOf(spent.get(purpose), reserved.get(purpose), wanted);
    if (cap?.tokens !== undefined && now.tokens > cap.tokens)
      throw budgetError(
        `${purpose} may use ${cap.tokens} tokens, and the next request could bring it to ${now.tokens}`,
      );
    if (cap?.usd !== undefined && now.usd > cap.usd)
      throw budgetError(
        `${purpose} may cost $${cap.usd}, and the next request could bring it to $${now.usd.toFixed(2)}`,
      );
    const all = sumOf(...spent.values(), ...reserved.values(), wanted);
    if (most !== undefined && all.usd > most)
      throw budgetError(
        `$${most.toFixed(2)} are left, and the next request could bring the cost to $${all.usd.toFixed(2)}`,
      );
  }
}

/** Runs whose row tells the entry. */
type Told = Entry & { readonly runs: Set<string> };

function add(spending: Map<Purpose, Spending>, purpose: Purpose, more: Spending): void {
  spending.set(purpose, sumOf(spending.get(purpose), more));
}

function totalOf(entries: readonly Entry[]): Total {
  const usage = { requests: 0, input: 0, cached: 0, output: 0 };
  let usd = 0;
  let unpriced = 0;
  let replayed = 0;
  for (const entry of entries) {
    usage.requests += entry.usage.requests;
    usage.input += entry.usage.input;
    usage.cached += entry.usage.cached;
    usage.output += entry.usage.output;
    usd += entry.usd ?? 0;
    if (entry.usd === null) unpriced += entry.usage.requests;
    if (entry.replayed) replayed += entry.usage.requests;
  }
  return { answers: entries.length, usage, usd, unpriced, replayed };
}

function budgetError(what: string): ModelError {
  return new ModelError(
    'budget',
    `The spending cap is reached: ${what}.`,
    'What is done stays; the next night goes on. Raise budget in .github/memory.yml if that is too little.',
  );
}
