import { once } from './once.ts';
import { assignments } from './redact-assignments.ts';
import { environmentDetector, environmentMark } from './redact-environment.ts';
import { nameLiterals } from './redact-names.ts';
import { placeDetectors, placeRules } from './redact-places.ts';
import { platformRules } from './redact-platforms.ts';
import { type Hits, literalScanner, type Scanner } from './redact-scan.ts';
import { serviceRules } from './redact-services.ts';
import { type Detector, type FormRule, placeholder, type Span } from './redact-types.ts';
import { isStandIn, isWordy } from './redact-values.ts';
import { sha256 } from './thread-id.ts';

/** A secret found: the rule's id and where it stands, in UTF-16 code units. */
export interface Finding extends Span {
  readonly rule: string;
}

/** Rule id → secrets removed. Texts' counts add up. */
export type RedactionCounts = Readonly<Record<string, number>>;

/**
 * Replaces secrets by `[REDACTED_SECRET]`. Works on plain text and on serialised JSON alike, holds no state between
 * calls, takes time in proportion to the text, and finds nothing in what it returned.
 */
export interface Redactor {
  /** Changes whenever the rules do: for the manifest. Says nothing about the environment. */
  readonly version: string;
  /** Changes whenever what is removed may, the environment's values too, which it does not tell. */
  key(): string;
  redact(text: string): string;
  redactCounted(text: string): { readonly text: string; readonly counts: RedactionCounts };
  /** What stands in the text as it is, in order, without overlaps. Empty for everything that `redact` returned. */
  find(text: string): readonly Finding[];
}

/** @param env secret-looking variables of it (`…_TOKEN`, `…_PASSWORD`, ≥ 8 characters) are removed by their values. */
export function createRedactor(env: Readonly<Record<string, string | undefined>>): Redactor {
  const environment = environmentDetector(env);
  common ??= literalScanner(commonDetectors);
  const scanners = environment === null ? [common] : [common, literalScanner([environment])];

  function find(text: string): readonly Finding[] {
    const hits = new Secrets(text);
    for (const scan of scanners) scan(text, hits);
    return merged(hits.found);
  }

  function redactCounted(text: string): { text: string; counts: RedactionCounts } {
    const counts: Record<string, number> = {};
    let current = text;
    for (let pass = 0; pass < maxPasses; pass++) {
      const found = find(current);
      if (found.length === 0) break;
      for (const { rule } of found) counts[rule] = (counts[rule] ?? 0) + 1;
      current = withoutSpans(current, found);
    }
    return { text: current, counts };
  }

  const key = once(() => `${version} ${environmentMark(env)}`);
  return { version, key, redact: (text) => redactCounted(text).text, redactCounted, find };
}

/** What the detectors make of the places where their literals start in a text. */
class Secrets implements Hits<Detector> {
  readonly #text: string;
  readonly #isRedacted: boolean;
  /** Up to where a detector has found one. */
  readonly #covered = new Map<Detector, number>();
  readonly found: Finding[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#isRedacted = text.includes(placeholder);
  }

  add(detector: Detector, start: number): void {
    if ((this.#covered.get(detector) ?? 0) > start || this.#isGone(start)) return;
    const span = detector.detect(this.#text, start);
    if (span === null || this.#isGone(span.start) || this.#isGone(span.end - 1)) return;
    this.#covered.set(detector, span.end);
    this.found.push({ rule: detector.id, ...span });
  }

  /** Whether a place lies inside a placeholder. */
  #isGone(at: number): boolean {
    if (!this.#isRedacted) return false;
    const reach = placeholder.length - 1;
    return this.#text.slice(Math.max(0, at - reach), at + placeholder.length).includes(placeholder);
  }
}

/** What is looked for whatever the environment: made once, since a session that holds secrets gets a redactor of its own. */
let common: Scanner<Detector> | undefined;

/** What is gone may end a neighbour that was no secret before: each pass looks at what the one before it left. */
const maxPasses = 16;

const formRules: readonly FormRule[] = [...placeRules, ...platformRules, ...serviceRules];
const byForm: ReadonlySet<string> = new Set(formRules.map(({ id }) => id));
const commonDetectors: readonly Detector[] = [...formRules.map(detectorOf), ...placeDetectors, assignments];

/** Raise it when the code that finds or judges values changes: the tables below are hashed, code is not. */
const revision = 1;

const version = sha256(
  JSON.stringify([revision, formRules, nameLiterals, commonDetectors.map(({ id, literals }) => [id, literals])]),
).slice(0, 12);

function detectorOf(rule: FormRule): Detector {
  const pattern = new RegExp(rule.pattern, rule.anyCase ? 'dyi' : 'dy');
  const byPlace = placeRules.includes(rule);
  return {
    id: rule.id,
    literals: rule.literals,
    detect(text, at) {
      const from = at - (rule.before ?? 0);
      if (from < 0 || !startsToken(text, from)) return null;
      pattern.lastIndex = from;
      const match = pattern.exec(text);
      if (match === null) return null;
      const [start, end] = match.indices?.groups?.secret ?? [from, from + match[0].length];
      if (isWordAt(text, end) || text.startsWith(placeholder, end)) return null;
      if (byPlace && isNoSecret(text.slice(start, end))) return null;
      return { start, end };
    },
  };
}

function isNoSecret(value: string): boolean {
  return isStandIn(value) || (value.length >= 16 && isWordy(value));
}

/**
 * A word starts here: no letter, digit or `_` stands before it, unless that ends an escape: a serialised `\n`, `%3D`,
 * `\u003d`, a terminal's colour `[32m`.
 */
function startsToken(text: string, at: number): boolean {
  if (!isWordAt(text, at - 1) || !isWordAt(text, at)) return true;
  return /\\[nrtbf]$|%[0-9A-Fa-f]{2}$|\\u[0-9A-Fa-f]{4}$|\[[0-9;]{0,8}m$/.test(text.slice(Math.max(0, at - 11), at));
}

/** Whether a letter of English, a digit or `_` stands there. */
function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || (code >= 0x41 && code <= 0x5a)
  );
}

/** Overlapping and touching findings are one secret, counted for the rule that starts first; a form tells most. */
function merged(found: readonly Finding[]): readonly Finding[] {
  if (found.length <= 1) return found;
  const result: Finding[] = [];
  for (const finding of [...found].sort((a, b) => a.start - b.start || rank(a) - rank(b) || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || finding.start > last.end) result.push(finding);
    else if (finding.end > last.end) result[result.length - 1] = { ...last, end: finding.end };
  }
  return result;
}

function rank({ rule }: Finding): number {
  return rule === assignments.id ? 2 : byForm.has(rule) ? 0 : 1;
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start), placeholder);
    from = end;
  }
  return parts.join('') + text.slice(from);
}
