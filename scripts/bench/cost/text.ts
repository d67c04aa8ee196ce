import { aligned } from '../text.ts';
import {
  type Each,
  type Load,
  monthDays,
  type Prices,
  type Reckoned,
  type Remembered,
  type Tokens,
  type Used,
} from './reckon.ts';

export interface Figures {
  /** Sessions that the means are of. */
  readonly sessions: number;
  readonly tokens: Tokens;
  readonly load: Load;
  readonly prices: Prices;
  readonly reckoned: Reckoned;
  readonly remembered: Remembered;
  readonly each: Each;
}

/** What a night and a month cost, for a person. */
export function costText(figures: Figures): string {
  const { sessions, tokens, load, prices, reckoned } = figures;
  const { phase1, phase2, batchUsd, night, nightInBatches } = reckoned;
  const { session, conversation } = tokens;
  const row = (name: string, used: Used & { readonly usd: number }) => [
    name,
    String(used.requests),
    millions(used.input),
    `${Math.round((used.cached / used.input) * 100)} %`,
    millions(used.output),
    dollars(used.usd),
    dollars(used.usd * monthDays),
  ];
  const sum = (usd: number) => ['', '', '', '', dollars(usd), dollars(usd * monthDays)];
  return [
    ...aligned([
      ['', 'requests', 'M in', 'cached', 'M out', '$ a night', `$ in ${monthDays} days`],
      row('phase 1', phase1),
      row('phase 2', phase2),
      ['together', ...sum(night)],
      [`phase 1 in batches, at ${prices.batchShare} of the price`, ...sum(batchUsd)],
      ['together', ...sum(nightInBatches)],
    ]),
    '',
    `${load.repositories} repositories, ${load.people} people, ${load.sessions} sessions a day: ${perPerson(night, load)} a person in ${monthDays} days, ${perPerson(nightInBatches, load)} in batches.`,
    eachText(figures),
    `A session: ${session.constant} tokens that are the same for all, ${session.own} of its own, ${session.output} out; counted in ${sessions} sessions.`,
    `A conversation: ${load.turns} turns; ${conversation.constant} tokens that are the same for all, ${conversation.opening} of its own, ${conversation.read} read, ${conversation.written} written.`,
    `Prices: ${priceText(prices.extract)} (phase 1), ${priceText(prices.consolidate)} (phase 2): $ for a million tokens in, cached, out.`,
    'Counted with o200k_base. Assumed, as no model is asked: the length of answers, the turns, that every repository changes, and that the cache holds.',
  ].join('\n');
}

/** Of one session and one line: less than a cent. */
function eachText({ each, remembered }: Figures): string {
  const small = (usd: number) => `$${usd.toFixed(4)}`;
  const session = `One session is read for ${small(each.session)}, ${small(each.sessionInBatches)} in batches`;
  if (each.line === null || each.lineInBatches === null) return `${session}; no line of them stayed.`;
  const lines = `${small(each.line)}, ${small(each.lineInBatches)} in batches`;
  return `${session}; a line that stands in the handbook costs ${lines}, its share of the night (${remembered.lines} lines of ${remembered.sessions} sessions, as a night without a model keeps them).`;
}

function perPerson(night: number, { people }: Load): string {
  return `$${dollars((night * monthDays) / people)}`;
}

function priceText({ input, cached, output }: Prices['extract']): string {
  return [input, cached ?? input, output].join('/');
}

function millions(tokens: number): string {
  return (tokens / 1_000_000).toFixed(2);
}

function dollars(usd: number): string {
  return usd.toFixed(2);
}
