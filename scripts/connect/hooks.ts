import type { Edit } from './edit.ts';
import {
  type JsonText,
  JsonTextError,
  type Node,
  parseJsonText,
  propertyAt,
  requireSingle,
  valueAt,
  withItem,
  withoutChild,
  withProperty,
} from './json-text.ts';
import { isOurs } from './pinned.ts';

/** One command that an agent runs at an event, as its configuration holds it. */
export interface Handler {
  readonly event: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * How an agent's file holds handlers. `grouped`: `{"hooks":{"<event>":[{"hooks":[handler]}]}}` (Claude Code, Codex,
 * Gemini CLI); `flat`: `{"version":1,"hooks":{"<event>":[handler]}}` (Copilot CLI).
 */
export type Shape = 'grouped' | 'flat';

/** Adds handlers to a file of hooks or of settings, and takes only ours out of it. */
export function hooksEdit(path: string, shape: Shape, handlers: readonly Handler[]): Edit {
  return {
    path,
    shown: shownAs(shape, handlers),
    isInstalled: (text) => {
      const found = oursIn(parsed(text, path), shape).map(({ event, handler, alone }) => ({
        event,
        value: jsonValue(handler),
        alone,
      }));
      const wanted = handlers.map(({ event, value }) => ({ event, value, alone: true }));
      return JSON.stringify(found.sort(byEvent)) === JSON.stringify(wanted.sort(byEvent));
    },
    holds: (text) => oursIn(parsed(text, path), shape).length > 0,
    install: (text) => {
      if (text === null) return shownAs(shape, handlers);
      return handlers.reduce(
        (next, handler) => withHandler(parsed(next, path), shape, handler, path),
        text.trim() === '' ? '{}\n' : text,
      );
    },
    uninstall: (text, kept) => {
      let next = text;
      for (;;) {
        const json = parsed(next, path);
        const [first] = oursIn(json, shape);
        if (first === undefined) return next;
        next = withoutHandler(json, first, kept);
      }
    },
    structure: (text) => {
      const hooks = valueAt(parsed(text, path).root, 'hooks');
      if (hooks === undefined) return [];
      return ['hooks', ...handlers.map(({ event }) => event).filter((event) => propertyAt(hooks, event) !== undefined)];
    },
    isEmpty: (text) => {
      const value: unknown = jsonValue(parsed(text, path).root);
      const bare = shape === 'flat' ? ['{"version":1}', '{"version":1,"hooks":{}}', '{}'] : ['{}'];
      return bare.includes(JSON.stringify(value));
    },
  };
}

/** A file of these handlers alone. */
export function shownAs(shape: Shape, handlers: readonly Handler[]): string {
  const hooks = Object.fromEntries(handlers.map(({ event, value }) => [event, [entryOf(shape, value)]]));
  return `${JSON.stringify(shape === 'flat' ? { version: 1, hooks } : { hooks }, null, 2)}\n`;
}

function commandsBelow(node: Node): readonly string[] {
  if (node.type === 'property') {
    const [key, value] = node.children ?? [];
    const isCommand = (key?.value === 'command' || key?.value === 'bash') && typeof value?.value === 'string';
    return isCommand ? [String(value.value)] : value === undefined ? [] : commandsBelow(value);
  }
  return (node.children ?? []).flatMap(commandsBelow);
}

function parsed(text: string, path: string): JsonText {
  return parseJsonText(text.trim() === '' ? '{}' : text, path);
}

function entryOf(shape: Shape, value: Handler['value']): unknown {
  return shape === 'flat' ? value : { hooks: [value] };
}

function withHandler(json: JsonText, shape: Shape, { event, value }: Handler, path: string): string {
  const { text, root } = json;
  requireSingle(json, root, 'hooks', path);
  const entry = entryOf(shape, value);
  const hooks = valueAt(root, 'hooks');
  if (hooks === undefined) {
    const isVersioned = shape === 'grouped' || valueAt(root, 'version') !== undefined;
    if (!isVersioned)
      return withHandler(parsed(withProperty(json, root, 'version', 1), path), shape, { event, value }, path);
    return withProperty(json, root, 'hooks', { [event]: [entry] });
  }
  if (hooks.type !== 'object') throw new JsonTextError(path, text, hooks.offset, '“hooks” is no object');
  requireSingle(json, hooks, event, path);
  const list = valueAt(hooks, event);
  if (list === undefined) return withProperty(json, hooks, event, [entry]);
  if (list.type !== 'array') throw new JsonTextError(path, text, list.offset, `“hooks.${event}” is no list`);
  return withItem(json, list, entry);
}

/** One of our handlers where it stands. */
interface Standing {
  readonly event: string;
  readonly hooks: Node;
  readonly list: Node;
  /** The item of the list: the handler itself, or the group that holds it. */
  readonly entry: Node;
  readonly handler: Node;
  /** Nobody else's handler is in its group. */
  readonly alone: boolean;
}

function oursIn({ root }: JsonText, shape: Shape): Standing[] {
  const hooks = valueAt(root, 'hooks');
  if (hooks?.type !== 'object') return [];
  return (hooks.children ?? []).flatMap(({ children }) => {
    const [key, list] = children ?? [];
    if (list?.type !== 'array') return [];
    return (list.children ?? []).flatMap((entry) => {
      const group = shape === 'flat' ? [entry] : (valueAt(entry, 'hooks')?.children ?? []);
      return group.filter(isOurHandler).map((handler) => ({
        event: String(key?.value),
        hooks,
        list,
        entry,
        handler,
        alone: group.length === 1,
      }));
    });
  });
}

function isOurHandler(handler: Node): boolean {
  return handler.type === 'object' && commandsBelow(handler).some(isOurs);
}

function withoutHandler(
  json: JsonText,
  { event, hooks, list, entry, handler, alone }: Standing,
  kept: readonly string[],
): string {
  if (!alone) return withoutChild(json, valueAt(entry, 'hooks') ?? list, handler);
  const isLast = list.children?.length === 1;
  if (!isLast || kept.includes(event)) return withoutChild(json, list, entry);
  const isLastEvent = hooks.children?.length === 1;
  const parent = isLastEvent && !kept.includes('hooks') ? json.root : hooks;
  const child = propertyAt(parent, parent === hooks ? event : 'hooks');
  return child === undefined ? json.text : withoutChild(json, parent, child);
}

function jsonValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(jsonValue);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    (node.children ?? []).map(({ children }) => [
      String(children?.[0]?.value),
      children?.[1] === undefined ? null : jsonValue(children[1]),
    ]),
  );
}

function byEvent(a: { readonly event: string }, b: { readonly event: string }): number {
  return a.event < b.event ? -1 : a.event > b.event ? 1 : 0;
}
