import { createRequire } from 'node:module';
import type grayMatter from 'gray-matter';
import { MemoryError, messageOf } from './errors.ts';
import { once } from './once.ts';
import { parseYaml } from './yaml.ts';

/** What stands above and below the second `---`. Lines count from 1 in the whole text. */
export type FrontMatter =
  | {
      readonly outcome: 'read';
      /** False where the text begins with no `---`; `data` is then empty. */
      readonly present: boolean;
      readonly data: Readonly<Record<string, unknown>>;
      /** LF line ends. */
      readonly body: string;
      readonly bodyLine: number;
      /** The line of a key; 1 where it is missing. */
      lineOf(key: string): number;
    }
  | { readonly outcome: 'wrong'; readonly line: number; readonly message: string };

/**
 * Reads YAML front matter and nothing else: gray-matter runs JavaScript after `---js`, so a language other than YAML is
 * refused before it looks, and its other engines throw.
 */
export function parseFrontMatter(text: string): FrontMatter {
  const normal = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const opening = /^---(?!-)[ \t]*([^\n]{0,80})/.exec(normal);
  if (opening === null)
    return { outcome: 'read', present: false, data: {}, body: normal, bodyLine: 1, lineOf: () => 1 };
  if (!/^(ya?ml)?[ \t]*$/.test(opening[1] ?? ''))
    return wrong(1, 'the first line must be --- alone: front matter is YAML only');
  const closing = normal.indexOf('\n---', 3);
  if (closing < 0) return wrong(1, 'the front matter never ends: a second line --- is missing');
  if (!/^\n---[ \t]*(\n|$)/.test(normal.slice(closing, closing + 80)))
    return wrong(lineAt(normal, closing + 1), 'the line that ends the front matter must be --- alone');
  const yaml = parseYaml(normal.slice(normal.indexOf('\n') + 1, closing + 1));
  const mistake = yaml.errors[0];
  if (mistake !== undefined) return wrong(mistake.line + 1, mistake.message);
  return split(normal, closing, (key) => (yaml.lineOf([key]) ?? 0) + 1);
}

function split(text: string, closing: number, lineOf: (key: string) => number): FrontMatter {
  try {
    const { data, content }: { data: unknown; content: string } = matter()(text, locked);
    if (!isRecord(data)) return wrong(2, 'the front matter must be a list of `key: value` lines');
    return { outcome: 'read', present: true, data, body: content, bodyLine: lineAt(text, closing + 1) + 1, lineOf };
  } catch (error) {
    return wrong(1, messageOf(error));
  }
}

/** Loaded where a text has front matter: it brings a YAML parser of its own, which takes 9 MB and is never asked. */
const matter = once(() => createRequire(import.meta.url)('gray-matter') as typeof grayMatter);

/** Given on every call, since without options gray-matter answers from a cache that callers can change. */
const locked = {
  language: 'yaml',
  engines: {
    yaml: { parse: readYaml, stringify: refuse },
    json: { parse: refuse, stringify: refuse },
    javascript: { parse: refuse, stringify: refuse },
    js: { parse: refuse, stringify: refuse },
    coffee: { parse: refuse, stringify: refuse },
    toml: { parse: refuse, stringify: refuse },
  },
};

function readYaml(text: string): object {
  const { value, errors } = parseYaml(text);
  const mistake = errors[0];
  if (mistake !== undefined) throw new MemoryError(mistake.message, 'Correct the front matter.');
  if (value === null) return {};
  // Scalars arrive here too: gray-matter's type promises an object, `split` looks at what it really is.
  return typeof value === 'object' ? value : [value];
}

function refuse(): never {
  throw new MemoryError('Front matter is YAML only.', 'Write it between two lines of ---, as `key: value`.');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(line: number, message: string): FrontMatter {
  return { outcome: 'wrong', line, message };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
