import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../shared/errors.ts';

export type { Node } from 'jsonc-parser';

/** JSON as people write it: with comments, trailing commas, any indentation and line ends. All of it stays. */
export interface JsonText {
  readonly text: string;
  readonly root: Node;
}

/** Where something is wrong, for a person who has the file open in an editor. */
export class JsonTextError extends UsageError {
  constructor(path: string, text: string, offset: number, reason: string) {
    const before = text.slice(0, offset).split(/\r\n|\n|\r/);
    const column = (before.at(-1)?.length ?? 0) + 1;
    super(
      `${path}, line ${before.length}, column ${column}: ${reason}. It was left as it is.`,
      'Correct it, then run the same command again.',
    );
  }
}

/**
 * @param path for the message only.
 * @throws JsonTextError for what is no JSON object, or has a key of `single` twice in its object.
 */
export function parseJsonText(text: string, path: string): JsonText {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [first] = errors;
  if (first !== undefined)
    throw new JsonTextError(path, text, first.offset, `this is no JSON (${printParseErrorCode(first.error)})`);
  if (root?.type !== 'object') throw new JsonTextError(path, text, root?.offset ?? 0, 'this is no JSON object');
  return { text, root };
}

/** The value of an object's key; undefined where it has none, or is no object. */
export function valueAt(object: Node, key: string): Node | undefined {
  return propertyAt(object, key)?.children?.[1];
}

/** @throws JsonTextError where the key is there twice: programs differ in which one they take. */
export function requireSingle({ text }: JsonText, object: Node, key: string, path: string): void {
  const found = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  if (found[1] !== undefined) throw new JsonTextError(path, text, found[1].offset, `the key “${key}” is here twice`);
}

export function propertyAt(object: Node, key: string): Node | undefined {
  return object.type === 'object' ? object.children?.find(({ children }) => children?.[0]?.value === key) : undefined;
}

/** The text with one more property at the end of an object, laid out as its neighbours are. */
export function withProperty({ text, root }: JsonText, object: Node, key: string, value: unknown): string {
  return withChild(text, root, object, (layout) => `${JSON.stringify(key)}:${layout.space}${layout.render(value)}`);
}

/** The text with one more item at the end of an array, laid out as its neighbours are. */
export function withItem({ text, root }: JsonText, array: Node, value: unknown): string {
  return withChild(text, root, array, (layout) => layout.render(value));
}

/** The text without a property or an item, its comma and its line; comments stay. */
export function withoutChild({ text }: JsonText, parent: Node, child: Node): string {
  const siblings = parent.children ?? [];
  const previous = siblings[siblings.indexOf(child) - 1];
  const end = child.offset + child.length;
  const own = commaAfter(text, end);
  const comma = own ?? (previous === undefined ? null : commaAfter(text, previous.offset + previous.length));
  const rest = own ?? end;
  const endsLine = /^[ \t]*(?:\r|\n|$)/.test(text.slice(rest));
  const start = endsLine
    ? lineLead(text, child.offset)
    : child.offset - (own === null ? blanksBefore(text, child.offset) : 0);
  const cut = without(text, [{ start, end }, ...(comma === null ? [] : [{ start: comma - 1, end: comma }])]);
  return siblings.length === 1 ? collapsed(cut, parent.offset) : cut;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function without(text: string, spans: readonly Span[]): string {
  return spans
    .toSorted((a, b) => b.start - a.start)
    .reduce((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
}

interface Layout {
  /** After a colon. */
  readonly space: string;
  render(value: unknown): string;
}

function withChild(text: string, root: Node, parent: Node, write: (layout: Layout) => string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = indentUnit(text, root);
  const last = parent.children?.at(-1);
  const isOneLine = last !== undefined && !text.slice(parent.offset, last.offset).includes('\n');
  if (last !== undefined && isOneLine) {
    const space = /^\s*\S+\s*:\s/.test(text.slice(root.offset + 1)) ? ' ' : '';
    const at = last.offset + last.length;
    const added = write({ space, render: (value) => JSON.stringify(value) });
    return `${text.slice(0, at)},${space}${added}${text.slice(at)}`;
  }
  const outer = indentAt(text, parent.offset);
  const inner = last === undefined ? outer + unit : indentAt(text, last.offset);
  const added = write({
    space: ' ',
    render: (value) => JSON.stringify(value, null, unit).replace(/\n/g, `${eol}${inner}`),
  });
  if (last !== undefined) return afterLast(text, last, `${eol}${inner}${added}`);
  const open = parent.offset + 1;
  const close = parent.offset + parent.length - 1;
  const comments = text.slice(open, close).trimEnd();
  return `${text.slice(0, open)}${comments}${eol}${inner}${added}${eol}${outer}${text.slice(close)}`;
}

/** A comment on the last child's line stays with it; a trailing comma stays trailing. */
function afterLast(text: string, last: Node, added: string): string {
  const end = last.offset + last.length;
  const comma = commaAfter(text, end);
  const point = lineRest(text, comma ?? end);
  return [
    text.slice(0, end),
    comma === null ? ',' : '',
    text.slice(end, point),
    added,
    comma === null ? '' : ',',
    text.slice(point),
  ].join('');
}

/** The offset behind the comma that follows, with nothing but blanks and comments between; null: none follows. */
function commaAfter(text: string, offset: number): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === ',' ? at + 1 : null;
}

/** The end of the line, where only blanks and comments are left on it; else the same offset. */
function lineRest(text: string, offset: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  for (;;) {
    scanner.scan();
    const at = scanner.getTokenOffset();
    const first = text[at];
    if (first === '\n' || first === '\r') return at;
    if (first !== ' ' && first !== '\t' && first !== '/') return offset;
  }
}

/** Where the line break and the indentation before an offset start, if nothing else stands before it on its line. */
function lineLead(text: string, offset: number): number {
  const lead = /(?:\r\n|\n|\r)?[ \t]*$/.exec(text.slice(0, offset));
  return lead === null ? offset : lead.index;
}

function blanksBefore(text: string, offset: number): number {
  return /[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0;
}

/** Without the blanks between the brackets at `open`, where nothing else is left there. */
function collapsed(text: string, open: number): string {
  const blank = /^\s+(?=[}\]])/.exec(text.slice(open + 1));
  return blank === null ? text : text.slice(0, open + 1) + text.slice(open + 1 + blank[0].length);
}

/** The blanks that the line of an offset starts with. */
function indentAt(text: string, offset: number): string {
  const line = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(line))?.[0] ?? '';
}

function indentUnit(text: string, root: Node): string {
  const first = root.children?.[0];
  const indent = first === undefined ? '' : indentAt(text, first.offset);
  return indent === '' || !text.slice(root.offset, first?.offset).includes('\n') ? '  ' : indent;
}
