import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { messageOf } from './errors.ts';

/** A mistake in a YAML text. Lines count from 1. */
export interface YamlMistake {
  readonly line: number;
  readonly message: string;
}

export interface Yaml {
  /** Plain values of the core schema; null where there are mistakes. */
  readonly value: unknown;
  readonly errors: readonly YamlMistake[];
  /** The line of the key or list item at a path; null where nothing stands there. */
  lineOf(path: readonly (string | number)[]): number | null;
}

/**
 * Reads one YAML document: core schema (no dates, no merge keys), keys unique, no aliases (they let a small text grow
 * without bound). Never throws; every mistake is in `errors`, without the text around it.
 */
export function parseYaml(text: string): Yaml {
  try {
    return parse(text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'));
  } catch (error) {
    return { value: null, errors: [{ line: 1, message: `cannot be read: ${messageOf(error)}` }], lineOf: () => null };
  }
}

function parse(text: string): Yaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter: lines,
  });
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const errors = [...document.errors, ...document.warnings].map((error) => ({
    line: lineAt(error.pos[0]),
    message: error.message,
  }));
  visit(document, {
    Alias(_, node) {
      errors.push({ line: lineAt(node.range?.[0] ?? 0), message: `alias *${node.source} is not allowed` });
    },
  });
  const lineOf = (path: readonly (string | number)[]) => {
    const offset = offsetOf(document.contents, path);
    return offset === null ? null : lineAt(offset);
  };
  if (errors.length > 0) return { value: null, errors, lineOf };
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  return { value, errors, lineOf };
}

function offsetOf(root: unknown, path: readonly (string | number)[]): number | null {
  let node = root;
  let offset: number | null = null;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined || !isScalar(pair.key)) return null;
      offset = pair.key.range?.[0] ?? null;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = typeof part === 'number' ? node.items[part] : undefined;
      if (item === undefined) return null;
      offset = startOf(item);
      node = item;
    } else return null;
  }
  return offset;
}

function startOf(node: unknown): number | null {
  if (isScalar(node) || isMap(node) || isSeq(node)) return node.range?.[0] ?? null;
  return null;
}
