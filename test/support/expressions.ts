import { data, Evaluator, Lexer, Parser } from '@actions/expressions';

/** What expressions may read: `github`, `inputs`, `needs`, … as plain values. */
export type Contexts = Readonly<Record<string, unknown>>;

/** How what came before ended, for `success()` and its like. */
export type Status = 'success' | 'failure' | 'cancelled';

/** A text with `${{ … }}` in it, as GitHub's own evaluator fills it in. */
export function filledIn(text: string, contexts: Contexts): string {
  return text.replace(/\$\{\{([\s\S]*?)\}\}/g, (_, expression: string) =>
    evaluated(expression, contexts, 'success').coerceString(),
  );
}

/** What one expression, `${{ … }}`, evaluates to, as a plain value. */
export function plainValue(text: string, contexts: Contexts): unknown {
  const expression = text.replace(/^\s*\$\{\{([\s\S]*)\}\}\s*$/, '$1');
  return JSON.parse(JSON.stringify(evaluated(expression, contexts, 'success'), data.replacer));
}

/** An `if`: without a status function it holds only after success. */
export function holds(condition: string | undefined, contexts: Contexts, status: Status): boolean {
  const expression = (condition ?? 'success()').replace(/^\s*\$\{\{([\s\S]*)\}\}\s*$/, '$1');
  const asksStatus = /\b(?:success|failure|always|cancelled)\s*\(/.test(expression);
  if (!asksStatus && status !== 'success') return false;
  const value = evaluated(expression, contexts, status);
  return !['', '0', 'false'].includes(value.coerceString()) && !(value instanceof data.Null);
}

/** @throws what GitHub's own parser says of an expression that is none, or reads a context that is not there. */
function evaluated(expression: string, contexts: Contexts, status: Status): data.ExpressionData {
  const answers: Readonly<Record<string, boolean>> = {
    success: status === 'success',
    failure: status === 'failure',
    cancelled: status === 'cancelled',
    always: true,
  };
  const functions = Object.entries(answers).map(([name, answer]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(answer),
  }));
  const parsed = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), functions).parse();
  const values: unknown = JSON.parse(JSON.stringify(contexts), data.reviver);
  if (!(values instanceof data.Dictionary)) throw new TypeError('Contexts are a dictionary.');
  return new Evaluator(parsed, values, new Map(functions.map((one) => [one.name, one]))).evaluate();
}
