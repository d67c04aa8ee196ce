import { ruleOf } from './catalogue.ts';

/** What to do about a broken rule. */
export function remedyOf(rule: string): string {
  return ruleOf(rule)?.remedy ?? 'Correct the line.';
}
