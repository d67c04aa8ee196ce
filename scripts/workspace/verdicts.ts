import type { Evidence } from '../shared/evidence.ts';
import { type Authority, authorityOf } from './authority.ts';
import { type Claims, claimsOf, longestRun, showsCode, supports } from './claims.ts';
import { droppedDoubt } from './doubts.ts';
import { occurs, quotesIn } from './quotes.ts';
import { isRuleText } from './rule-words.ts';
import type { Heard, Session } from './said.ts';
import { contentWords, placesIn, sequenceOf, type WordPlaces } from './words.ts';

/** A line of memory with its evidence, as it is compared with the sessions behind it. */
export interface Line {
  /** Without marker and evidence. */
  readonly text: string;
  readonly section: 'preferences' | 'knowledge' | 'failures' | 'steps' | 'references' | 'none';
  readonly evidence: readonly Evidence[];
}

/** What of a line its evidence does not bear out. */
export interface Fault {
  readonly rule:
    | 'evidence.quote'
    | 'evidence.speaker'
    | 'evidence.command'
    | 'evidence.hedge'
    | 'evidence.rule'
    | 'evidence.raised'
    | 'evidence.mark';
  readonly message: string;
}

export interface Verdict {
  /** `borne_out`: everything that can be compared holds. `unseen`: nothing is at hand of a session that it cites. */
  readonly outcome: 'borne_out' | 'faults' | 'unseen';
  readonly faults: readonly Fault[];
  /** Computed from the items that bear the line out, else from all that it cites; null where none is known. */
  readonly authority: Authority | null;
}

/**
 * Compares a line with what its sessions said. A line marked `(unverified)` has said already that its quotations do not
 * hold, and `(candidate)` that it is none yet: they are not asked for more.
 * @param sessionOf what is at hand of a thread, by its short id; null where nothing is.
 */
export function judgeLine(line: Line, sessionOf: (thread: string) => Session | null): Verdict {
  const cited: Heard[] = [];
  const sessions: Session[] = [];
  for (const { thread, items } of line.evidence) {
    const session = sessionOf(thread);
    const known = session === null ? [] : items.flatMap((n) => session.at(n));
    if (session === null || known.length === 0) return { outcome: 'unseen', faults: [], authority: null };
    sessions.push(session);
    cited.push(...known);
  }
  if (cited.length === 0) return { outcome: 'unseen', faults: [], authority: null };
  const claims = claimsOf(line.text);
  const isMarked = /\(unverified\)/.test(line.text);
  const quoted = isMarked ? [] : quoteFaults(claims, cited);
  const faults = isMarked
    ? []
    : [
        ...quoted,
        ...codeFaults(line, claims, sessions),
        ...ruleFaults(line, claims, sessions, cited),
        ...(quoted.length > 0 ? [] : raisedFaults(line, claims, cited)),
        ...doubtFaults(line.text, claims, cited.filter(isHuman)),
        ...markFaults(line, sessions, cited),
      ];
  return {
    outcome: faults.length > 0 ? 'faults' : 'borne_out',
    faults,
    get authority() {
      const bearing = cited.filter((heard) => supports(claims, heard));
      return authorityOf((bearing.length > 0 ? bearing : cited).map(({ said }) => said));
    },
  };
}

function quoteFaults({ quotes, speaker }: Claims, cited: readonly Heard[]): Fault[] {
  const human = cited.filter(isHuman);
  const agents = cited.filter(isOwnAgent);
  if (speaker === 'human' && human.length === 0)
    return [fault('evidence.speaker', 'The line says that a person said it, but cites nothing that a person said.')];
  if (speaker === 'agent' && quotes.length > 0 && agents.length === 0)
    return [fault('evidence.speaker', 'The line says that an agent said it, but cites nothing that one said.')];
  const sources = speaker === 'agent' ? agents : human.length > 0 ? human : cited;
  return quotes
    .filter((quote) => !sources.some((source) => occurs(quote, source.folded())))
    .slice(0, mostOfAKind)
    .map((quote) => {
      const isElsewhere = cited.some((source) => occurs(quote, source.folded()));
      const words = `The words “${shortened(quote)}”`;
      return isElsewhere
        ? fault('evidence.speaker', `${words} are another speaker’s than the items that are cited for them.`)
        : fault(
            'evidence.quote',
            `${words} are not in ${human.length > 0 ? 'the human items' : 'the items'} that it cites.`,
          );
    });
}

/** Commands must have been run, shown or said by a person; names must occur somewhere in the session. */
function codeFaults({ section }: Line, { codes }: Claims, sessions: readonly Session[]): Fault[] {
  const isStrict = section === 'references' || section === 'steps';
  return codes
    .filter((code) => {
      const isAsked = code.isCommand || isStrict;
      return !sessions.some((session) =>
        session.all.some((heard) => (!isAsked || isFirstHand(heard, session)) && showsCode(code, heard.folded())),
      );
    })
    .slice(0, mostOfAKind)
    .map(({ text }) =>
      fault('evidence.command', `“${shortened(text)}” was neither run nor shown nor asked for in the session.`),
    );
}

function isFirstHand({ said: { who } }: Heard, { basis }: Session): boolean {
  return basis === 'extract' || (who !== 'assistant' && who !== 'commentary' && who !== 'other_agent');
}

/** Text that a tool or a stranger printed, taken over as something to do. */
function ruleFaults(
  { section, text }: Line,
  claims: Claims,
  sessions: readonly Session[],
  cited: readonly Heard[],
): Fault[] {
  if (section === 'preferences' || cited.some(isHuman)) return [];
  const isQuoteAlone = claims.codes.length === 0 && claims.ownSequence().length <= 1;
  const words = isQuoteAlone ? text : claims.own;
  if (!isRuleText(words)) return [];
  const spoken = isQuoteAlone ? sequenceOf(text) : claims.ownSequence();
  const isCopied = cited.some(
    (heard) => !isOwnAgent(heard) && isCopy(longestRun(spoken, printed(heard, sessions)), spoken),
  );
  return isCopied ? [fault('evidence.rule', 'Text that a tool or another agent printed cannot make a rule.')] : [];
}

/** What an item showed: of phase 1's words on it only what they quote is the item's. */
function printed({ said, places }: Heard, sessions: readonly Session[]): WordPlaces {
  return sessions.every(({ basis }) => basis === 'items') ? places() : placesIn(quotesIn(said.text).join('\n'));
}

/** A preference is a person's: the items of a person that it cites must bear it out, and none of another more than they. */
function raisedFaults({ section }: Line, claims: Claims, cited: readonly Heard[]): Fault[] {
  const human = cited.filter(isHuman);
  if (human.length === 0 || (section !== 'preferences' && claims.speaker !== 'human')) return [];
  const isBorneOut = human.some((heard) => supports(claims, heard));
  if (!isBorneOut && wordsIn(claims) >= 3 && human.some((heard) => isComparable(claims, heard)))
    return [fault('evidence.raised', 'Nothing that a person said in the items that it cites bears the line out.')];
  const others = cited.filter((heard) => !isHuman(heard));
  if (others.length === 0) return [];
  const words = claims.ownSequence();
  const run = (heard: Heard) => longestRun(words, heard.places());
  const persons = Math.max(...human.map(run));
  const isAnothers = others.some((heard) => {
    const length = run(heard);
    return isCopy(length, words) && length > persons + 2;
  });
  return isAnothers ? [fault('evidence.raised', 'These are the words of a tool or an agent, not of the person.')] : [];
}

/** A doubt of the person's that the line drops. */
function doubtFaults(text: string, claims: Claims, persons: readonly Heard[]): Fault[] {
  const doubt = droppedDoubt(text, claims, persons);
  return doubt === null ? [] : [fault('evidence.hedge', `The person held something back: “${shortened(doubt)}”.`)];
}

/** What phase 1 could not verify, or held for a candidate, is no more certain in the handbook. */
function markFaults({ text }: Line, sessions: readonly Session[], cited: readonly Heard[]): Fault[] {
  if (sessions.length !== 1 || sessions[0]?.basis !== 'extract') return [];
  const said = sequenceOf(text);
  const from = cited
    .map((heard) => ({ text: heard.said.text, run: longestRun(said, heard.places()) }))
    .filter(({ run }) => isCopy(run, said));
  const most = Math.max(0, ...from.map(({ run }) => run));
  const closest = from.filter(({ run }) => run === most);
  if (closest.length === 0 || !closest.every((one) => /\((?:unverified|candidate)\)/.test(one.text))) return [];
  if (/\(candidate\)/.test(text)) return [];
  return [fault('evidence.mark', 'The session’s own record marks this as unverified or as a candidate.')];
}

/** A line of one or two words may be put in words that the person did not use. */
function wordsIn({ own, codes, quotes }: Claims): number {
  return contentWords([own, ...quotes, ...codes.map(({ text }) => text)].join(' ')).size;
}

/** Whether words in the one can be looked for in the other: both in one language, or at least one script. */
function isComparable(claims: Claims, { said, language }: Heard): boolean {
  const [one, other] = [claims.language(), language()];
  return one === other || (one === 'und' && /\p{Script=Latin}/u.test(said.text)) || other === 'und';
}

function isCopy(run: number, words: readonly string[]): boolean {
  return run >= 5 && run * 2 >= words.length;
}

function isOwnAgent({ said }: Heard): boolean {
  return said.who === 'assistant' || said.who === 'commentary';
}

function isHuman({ said }: Heard): boolean {
  return said.who === 'human';
}

/** Of one kind no line needs to be told more. */
const mostOfAKind = 3;

function fault(rule: Fault['rule'], message: string): Fault {
  return { rule, message };
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 100 ? line : `${[...line].slice(0, 99).join('')}…`;
}
