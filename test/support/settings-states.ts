import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import { fileOf } from '../../scripts/connect/targets.ts';
import type { TestMachine } from './connected.ts';

/** The agents whose hooks are JSON. */
export const agents = ['claude-code', 'codex', 'copilot', 'gemini'] as const;
export type JsonAgent = (typeof agents)[number];

export const events = {
  'claude-code': { start: 'SessionStart', ends: ['SessionEnd', 'Stop'], other: 'PreToolUse' },
  codex: { start: 'SessionStart', ends: ['Stop'], other: 'PreToolUse' },
  copilot: { start: 'sessionStart', ends: ['agentStop', 'sessionEnd'], other: 'preToolUse' },
  gemini: { start: 'SessionStart', ends: ['AfterAgent', 'SessionEnd'], other: 'BeforeTool' },
} as const;

/** A handler of somebody else's, as the agent's file holds it. */
export function theirs(agent: JsonAgent): object {
  if (agent === 'copilot') return { type: 'command', bash: "echo 'their own'" };
  return { hooks: [{ type: 'command', command: "echo 'their own'" }] };
}

/** What a file may be before we come; a string per state. Keys beside hooks only where the agent's file has them. */
export function states(agent: JsonAgent): Record<string, string | null> {
  const version = agent === 'copilot' ? { version: 1 } : {};
  const isSettings = agent === 'claude-code' || agent === 'gemini';
  const more = isSettings ? { model: 'big', permissions: { allow: ['Bash(npm test)'] }, note: 'größer 日本' } : {};
  const other = { ...version, ...more, hooks: { [events[agent].other]: [theirs(agent)] } };
  const same = { ...version, ...more, hooks: { [events[agent].start]: [theirs(agent)] } };
  const spaces = JSON.stringify(other, null, 2);
  return {
    'no file': null,
    'an empty file': '',
    'a file of blanks': '  \n\n',
    'an empty object': '{}',
    'an empty object with a newline': '{}\n',
    'an object over two lines': '{\n}\n',
    'no hooks': `${JSON.stringify({ ...version, ...more }, null, 2)}\n`,
    'empty hooks': `${JSON.stringify({ ...version, ...more, hooks: {} }, null, 2)}\n`,
    'an empty list at our event': `${JSON.stringify({ ...version, ...more, hooks: { [events[agent].start]: [] } }, null, 2)}\n`,
    'hooks of another event': `${spaces}\n`,
    'another tool at the same event': `${JSON.stringify(same, null, 2)}\n`,
    'another tool at the end': `${JSON.stringify({ ...version, hooks: { [events[agent].ends[0]]: [theirs(agent)] } }, null, 2)}\n`,
    'four spaces': `${JSON.stringify(same, null, 4)}\n`,
    tabs: `${JSON.stringify(same, null, '\t')}\n`,
    'CRLF line ends': `${spaces}\n`.replace(/\n/g, '\r\n'),
    'no newline at the end': spaces,
    'many newlines at the end': `${spaces}\n\n\n`,
    'a byte order mark': `\ufeff${spaces}\n`,
    'one line': JSON.stringify(same),
    'one line with blanks': `{ ${JSON.stringify(same).slice(1, -1).replace(/,"/g, ', "').replace(/":/g, '": ')} }\n`,
    comments: commented(JSON.stringify(same, null, 2)),
    'comments and CRLF': commented(JSON.stringify(same, null, 2)).replace(/\n/g, '\r\n'),
    'only a comment within': '{\n  // nothing yet\n}\n',
    'a comment after the last': `${spaces.replace(/\n\}$/, ' // last\n}')}\n`,
  };
}

/** With a comment above, at the end of a line, after the last, and trailing commas. */
function commented(text: string): string {
  const lines = text.split('\n');
  return [
    '// mine, do not lose',
    ...lines.map((line, at) =>
      /[}\]"\dse]$/.test(line) && at < lines.length - 1
        ? `${line}, // ${at}`
        : line.endsWith('{')
          ? `${line} /* in */`
          : line,
    ),
    '/* after */',
    '',
  ].join('\n');
}

/** Puts a file where the agent of a user looks. @returns its path. */
export function place(machine: TestMachine, agent: JsonAgent, before: string | null): string {
  const path = fileOf(agent, { scope: 'user' }, machine);
  if (before !== null) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, before, { mode: 0o600 });
  }
  return path;
}

export function jsonIn(path: string): { readonly hooks: Record<string, readonly object[]> } & Record<string, unknown> {
  const errors: ParseError[] = [];
  const value = parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  assert.deepEqual(errors, []);
  return value;
}

/** The settings of a text; what is none has none. */
export function settingsIn(
  text: string,
): { readonly hooks?: Record<string, readonly object[]> } & Record<string, unknown> {
  return parse(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true }) ?? {};
}

/** Ours stand at their events, after what was there. */
export function assertHooks(agent: JsonAgent, hooks: Record<string, readonly object[]>): void {
  const { start, ends } = events[agent];
  const ours = (event: string, program: string): void => {
    const last = JSON.stringify(hooks[event]?.at(-1));
    assert.match(last, new RegExp(`commit-to-memory/0\\.1\\.0-[0-9a-f]{8}/${program}`), event);
  };
  ours(start, 'recall.cjs');
  for (const event of ends) ours(event, 'collect.mjs');
}

/** What was there is there, in its order, with its comments. */
export function assertKept(agent: JsonAgent, before: string | null, value: ReturnType<typeof jsonIn>): void {
  const old = settingsIn(before ?? '');
  for (const key of Object.keys(old)) if (key !== 'hooks') assert.deepEqual(value[key], old[key], key);
  for (const [event, list] of Object.entries<readonly object[]>(old.hooks ?? {}))
    assert.deepEqual(value.hooks[event]?.slice(0, list.length), list, `${agent} ${event}`);
}
