import { type Language, languageOf } from '../shared/hedges.ts';
import { once } from '../shared/once.ts';
import { fold, occurs, placeOf, quotesIn } from './quotes.ts';
import type { Heard } from './said.ts';
import { contentWords, sequenceOf, type WordPlaces } from './words.ts';

/** A line's words taken apart: what it quotes, what it shows as code, and what it says itself. */
export interface Claims {
  readonly quotes: readonly string[];
  readonly codes: readonly Code[];
  /** Without quotations and code. */
  readonly own: string;
  /** The content words of `own`. */
  ownWords(): ReadonlySet<string>;
  /** `own` word by word. */
  ownSequence(): readonly string[];
  /** Whose words it says that the quotations are; null where it does not say. */
  readonly speaker: 'human' | 'agent' | null;
  /** Of the whole line. */
  language(): Language;
}

export interface Code {
  readonly text: string;
  /** A command line, and not a name alone. */
  readonly isCommand: boolean;
  /** The line says that it goes on. */
  readonly isCut: boolean;
}

export function claimsOf(line: string): Claims {
  const quotes = quotesIn(line);
  const unquoted = withoutQuotes(line, quotes);
  const codes = [...unquoted.matchAll(/(`{1,2})(?!`)([^\n]{1,2000}?)\1(?!`)( …)?/g)].flatMap((match): Code[] => {
    const text = (match[2] ?? '').trim();
    if (text.length < 3) return [];
    return [{ text, isCommand: /^[\w./~-][^\s]{0,200}\s+\S/.test(text), isCut: match[3] !== undefined }];
  });
  const own = unquoted.replace(/(`{1,2})(?!`)[^\n]{1,2000}?\1(?!`)/g, ' ');
  return {
    quotes,
    codes,
    own,
    ownWords: once(() => contentWords(own)),
    ownSequence: once(() => sequenceOf(own)),
    speaker: speakerOf(own),
    language: once(() => languageOf(line)),
  };
}

/** Whether a text holds what a line shows as code; placeholders in it stand for anything. */
export function showsCode({ text, isCut }: Code, folded: string): boolean {
  let from = 0;
  const pieces = text.split(/…|\.{3}|<[^<>]{1,60}>|\{[^{}]{1,60}\}|\*+/);
  for (const [index, piece] of pieces.entries()) {
    const wanted = fold(piece).trim();
    if (wanted === '') continue;
    const isOpen = isCut || pieces.length > 1 || index < pieces.length - 1;
    const at = isOpen ? folded.indexOf(wanted, from) : placeOf(wanted, folded, from);
    if (at < 0) return false;
    from = at + wanted.length;
  }
  return true;
}

/** Whether an item bears a line out at all: a quotation, a piece of code or a word of the line's own is in it. */
export function supports({ quotes, codes, ownWords }: Claims, { folded, words }: Heard): boolean {
  const text = folded();
  if (quotes.some((quote) => occurs(quote, text) || text.includes(fold(quote).trim()))) return true;
  if (codes.some((code) => showsCode(code, text))) return true;
  const known = words();
  return [...ownWords()].some((word) => known.has(word));
}

/** How many of a line's words, one after the other, stand so in a text too. */
export function longestRun(words: readonly string[], places: WordPlaces): number {
  let best = 0;
  let runs = new Map<number, number>();
  for (const word of words) {
    const next = new Map<number, number>();
    for (const at of places.get(word) ?? []) {
      const length = (runs.get(at - 1) ?? 0) + 1;
      next.set(at, length);
      best = Math.max(best, length);
    }
    runs = next;
  }
  return best;
}

function withoutQuotes(line: string, quotes: readonly string[]): string {
  return quotes.reduce((text, quote) => {
    const at = text.indexOf(quote);
    return at < 0 ? text : `${text.slice(0, Math.max(0, at - 1))} ${text.slice(at + quote.length + 1)}`;
  }, line);
}

const humanSpeaks =
  /\b(?:the )?(?:user|human|person|developer|maintainer)s? (?:\w+ )?(?:said|says|asked|asks|told|wrote|wants?|wanted|prefers?|preferred|insists?|insisted|corrected|requires?|required|decided|demands?|demanded|stated|states|requested|confirmed)\b|\b(?:per|by|from) the (?:user|human)\b|\b(?:der|die) (?:nutzer|benutzer|anwender|mensch|entwickler)(?:in)? (?:\p{L}+ )?(?:sagte?|will|wollte|möchte|bat|verlangt|bevorzugt|schrieb|bestand|forderte)|用户(?:\p{Script=Han}{0,2})(?:说|要求|希望|想要|指出|偏好|强调|表示|确认)|使用者(?:說|要求|希望)|l['’]utilisat(?:eur|rice) (?:a )?(?:dit|demandé?|veut|préfère)|el usuario (?:dijo|pidió|quiere|prefiere)|ユーザーは/iu;
const agentSpeaks =
  /\b(?:the )?(?:agent|assistant|model|ai)(?:['’]s last words|s? (?:\w+ )?(?:said|says|proposed|proposes|suggested|suggests|answered|concluded|claimed|claims|reported|wrote))\b|\b(?:der|die) (?:agent|assistent)(?:in)? (?:sagte?|schlug|schrieb|meinte|behauptete)|(?:代理|助手|模型)(?:说|建议|认为|提出)/iu;

function speakerOf(own: string): Claims['speaker'] {
  if (humanSpeaks.test(own)) return 'human';
  return agentSpeaks.test(own) ? 'agent' : null;
}
