import { htmlText } from '../shared/escape.ts';

/** Markup that is safe to stand in the page. Only this file makes it. */
export class Html {
  readonly #text: string;

  constructor(text: string, key: symbol) {
    if (key !== own) throw new Error('Html is made by the html tag.');
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Part = string | number | Html | null | readonly (Html | null)[];

/** A template whose values are escaped, markup of its own kind aside. Attributes stand in double quotes. */
export function html(markup: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    markup.reduce((text, piece, at) => `${text}${written(parts[at - 1] ?? null)}${piece}`),
    own,
  );
}

const own = Symbol('html');

function written(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'string' || typeof part === 'number') return htmlText(String(part));
  return part.map(written).join('');
}
