import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hooksEdit } from '../../scripts/connect/hooks.ts';
import { handlersFor } from '../../scripts/connect/targets.ts';
import { type Lots, lotsFrom } from '../support/lots.ts';
import { settingsIn } from '../support/settings-states.ts';

const folder = '/home/dana/.cache/commit-to-memory/0.1.0-0123abcd';
const handlers = handlersFor('claude-code', { memory: '/m', collect: '/m' }, (name) => `${folder}/${name}`);
const edit = hooksEdit('/settings.json', 'grouped', handlers);

test('whatever a file looks like, ours go in after what is there and out again, and no value or comment is lost', () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const lots = lotsFrom(seed);
    const { text, comments } = someSettings(lots);
    const before = settingsIn(text);
    const connected = edit.install(text);
    const said = `seed ${seed}:\n${text}\n---\n${connected}`;
    assert.deepEqual(settingsIn(connected), withOurs(before), said);
    assert.ok(edit.isInstalled(connected) && !edit.isInstalled(text), said);
    const taken = edit.uninstall(connected, edit.structure(text)) ?? '';
    assert.deepEqual(settingsIn(taken), before, `${said}\n---\n${taken}`);
    for (const comment of comments)
      assert.ok(connected.includes(comment) && taken.includes(comment), `${comment} in ${said}\n---\n${taken}`);
    assert.ok(!edit.holds(taken), taken);
    assert.equal(edit.uninstall(text, []), text);
    if (text.includes('\r\n')) assert.equal(connected.replaceAll('\r\n', '').includes('\n'), false, said);
  }
});

test('a handler of ours that a person put among theirs, twice, or under another event is brought back to one', () => {
  const [first] = handlers;
  assert.ok(first !== undefined);
  const theirs = { type: 'command', command: 'echo theirs' };
  const text = JSON.stringify({
    hooks: {
      SessionStart: [{ matcher: 'startup', hooks: [theirs, first.value] }, { hooks: [first.value] }],
      PreToolUse: [{ hooks: [first.value] }],
    },
  });
  assert.equal(edit.isInstalled(text), false);
  const base = edit.uninstall(text, []) ?? '';
  assert.deepEqual(settingsIn(base), { hooks: { SessionStart: [{ matcher: 'startup', hooks: [theirs] }] } });
  assert.ok(edit.isInstalled(edit.install(base)));
});

test('commands that only look like ours are not ours', () => {
  for (const command of [
    'node ~/commit-to-memory/scripts/collect/hook.mjs codex',
    'node /x/commit-to-memory/recall.cjs',
    'node /x/commit-to-memory/0.1.0-0123abcd/other.mjs',
    'echo commit-to-memory',
  ])
    assert.equal(
      edit.holds(JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })),
      false,
      command,
    );
});

function withOurs(before: ReturnType<typeof settingsIn>): object {
  const hooks: Record<string, readonly object[]> = { ...before.hooks };
  for (const { event, value } of handlers) hooks[event] = [...(hooks[event] ?? []), { hooks: [value] }];
  return { ...before, hooks };
}

/** An object of settings, with hooks or without, laid out as nobody would. */
function someSettings(lots: Lots): { readonly text: string; readonly comments: readonly string[] } {
  const comments: string[] = [];
  const eol = lots.of(['\n', '\r\n']);
  const isPlain = lots.percent(30);
  const gap = (): string => {
    const parts = Array.from({ length: lots.below(4) }, () => {
      if (isPlain || lots.percent(60)) return lots.of([' ', '\t', eol, '  ', `${eol}\t`, '']);
      const comment = lots.percent(50) ? `// c${comments.length} , } ]` : `/* c${comments.length} , " { */`;
      comments.push(comment);
      return comment.startsWith('//') ? `${comment}${eol}` : comment;
    });
    return parts.join('');
  };
  const list = (open: string, close: string, items: readonly string[]): string => {
    const inner = items.map((item) => `${gap()}${item}${gap()}`).join(',');
    return `${open}${inner}${items.length > 0 && !isPlain && lots.percent(30) ? ',' : ''}${gap()}${close}`;
  };
  const property = (key: string, value: string): string => `${JSON.stringify(key)}${gap()}:${gap()}${value}`;
  const text = (): string => JSON.stringify(lots.of(['a', '', '} // "', '日本', 'x\ny', 'hooks', 'C:\\x']));
  const handler = (): string => list('{', '}', [property('type', '"command"'), property('command', text())]);
  const group = (): string =>
    list('{', '}', [
      ...(lots.percent(50) ? [property('matcher', text())] : []),
      property('hooks', list('[', ']', Array.from({ length: lots.below(3) }, handler))),
    ]);
  const events = ['SessionStart', 'Stop', 'SessionEnd', 'PreToolUse'].filter(() => lots.percent(40));
  const hooks = list(
    '{',
    '}',
    events.map((event) => property(event, list('[', ']', Array.from({ length: lots.below(3) }, group)))),
  );
  const more = ['a', 'b', 'c']
    .slice(lots.below(4))
    .map((key) => property(key, lots.of([text(), '1', 'null', list('[', ']', [text(), '2']), list('{', '}', [])])));
  const properties = lots.percent(70) ? [...more, property('hooks', hooks)] : more;
  if (lots.percent(50)) properties.reverse();
  const whole = `${gap()}${list('{', '}', properties)}${gap()}`;
  return { text: whole, comments: comments.filter((comment) => whole.includes(comment)) };
}
