import { parseEvidence } from '../shared/evidence.ts';
import type { SectionName } from './block-lines.ts';
import type { Bullet } from './handbook.ts';
import { everywhere, type Scope } from './layout.ts';
import { demands } from './rule-words.ts';
import { withoutQuotes } from './text-rules.ts';
import { judgeLine } from './verdicts.ts';
import { error, type ItemFact, type RuleContext, type Spot, type Violation } from './violation.ts';

/** What is wrong with a bullet's evidence. A person's bullet is not asked for any. */
export function evidenceViolations(
  spot: Spot,
  scope: Scope,
  section: SectionName,
  bullet: Bullet,
  context: RuleContext,
): Violation[] {
  if (!endsInEvidence(bullet.raw))
    return [error(spot, bullet.line, 'bullet.evidence', 'The bullet must end in its evidence, like [k3f7x2ab@88,91].')];
  const facts: ItemFact[] = [];
  const found: Violation[] = [];
  for (const { thread, items } of bullet.evidence) {
    for (const item of items) {
      const fact = context.evidenceOf(thread, item);
      if (fact !== null) facts.push(fact);
      else found.push(error(spot, bullet.line, 'evidence.unknown', `No session has the item [${thread}@${item}].`));
    }
  }
  if (found.length > 0) return found;
  const broken =
    scope === everywhere
      ? everywhereViolations(spot, bullet, facts)
      : scopeViolations(spot, scope, section, bullet, facts);
  return [
    ...broken,
    ...correctionViolations(spot, bullet, facts, context),
    ...wordViolations(spot, section, bullet, context),
  ];
}

/** What a line corrects is there, and what a person said gives way to a person's words alone. */
function correctionViolations(spot: Spot, bullet: Bullet, own: readonly ItemFact[], context: RuleContext): Violation[] {
  const rule = 'evidence.supersedes';
  for (const { thread, items } of bullet.supersedes) {
    for (const item of items) {
      const fact = context.evidenceOf(thread, item);
      if (fact === null)
        return [error(spot, bullet.line, rule, `It supersedes ${thread}@${item}, which no session has.`)];
      if (fact.who === 'human' && !own.some(({ who }) => who === 'human'))
        return [
          error(spot, bullet.line, rule, `A person said ${thread}@${item}; only a person's words supersede that.`),
        ];
    }
  }
  return [];
}

/** What the words of the sessions do not bear out, where they are at hand. */
function wordViolations(spot: Spot, section: SectionName, bullet: Bullet, context: RuleContext): Violation[] {
  const { sessionOf } = context;
  if (sessionOf === undefined) return [];
  const { faults } = judgeLine({ text: bullet.text, section, evidence: bullet.evidence }, sessionOf);
  return faults.map(({ rule, message }) => error(spot, bullet.line, rule, message));
}

/** Whether a bullet's last words are evidence; `(unverified)` and a full stop may follow. */
export function endsInEvidence(raw: string): boolean {
  const text = raw.trimEnd().replace(/[ \t]{0,4}(?:\(unverified\))?\.?$/, '');
  const last = text.slice(text.lastIndexOf('['));
  return text.endsWith(']') && /^\[[^[\]]+\]$/.test(last) && parseEvidence(last).length === 1;
}

function everywhereViolations(spot: Spot, bullet: Bullet, facts: readonly ItemFact[]): Violation[] {
  const repos = new Set(facts.map(({ repo }) => repo));
  if (repos.size >= 2 || facts.some(({ who }) => who === 'human')) return [];
  const message = 'What holds everywhere needs evidence from two repositories, or a person who says so.';
  return [error(spot, bullet.line, 'evidence.everywhere', message)];
}

function scopeViolations(
  spot: Spot,
  scope: Scope,
  section: SectionName,
  bullet: Bullet,
  facts: readonly ItemFact[],
): Violation[] {
  const foreign = facts.find(({ repo }) => repo !== scope);
  if (foreign !== undefined)
    return [error(spot, bullet.line, 'evidence.scope', `The evidence is from ${foreign.repo}, not from ${scope}.`)];
  if (section === 'preferences' && !facts.some(({ who }) => who === 'human'))
    return [error(spot, bullet.line, 'evidence.authority', 'A preference needs something that a person said.')];
  if (
    facts.every(({ who }) => isExternal(who)) &&
    (facts.every(isHearsay) || (section === 'knowledge' && isRule(bullet)))
  )
    return [error(spot, bullet.line, 'evidence.authority', 'Text from a tool or another agent cannot make a rule.')];
  return [];
}

function isExternal(who: ItemFact['who']): boolean {
  return who === 'tool' || who === 'other_agent' || who === 'harness';
}

/** Not even observed: another agent or the harness says so. */
function isHearsay({ who }: ItemFact): boolean {
  return who === 'other_agent' || who === 'harness';
}

/** Whether a bullet tells what to do, outside of what it quotes. */
function isRule(bullet: Bullet): boolean {
  return demands.test(withoutQuotes(bullet.text));
}
