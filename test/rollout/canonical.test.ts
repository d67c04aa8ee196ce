import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRollout, RolloutError, writeRollout } from '../../scripts/rollout/canonical.ts';
import type { Rollout } from '../../scripts/rollout/types.ts';
import { openSamples } from '../support/sessions.ts';

test('every sample comes back from its text, and gives the same text again', async () => {
  const rollouts = openSamples();
  const { found } = await rollouts.list();
  for (const { thread } of found) {
    const rollout = await rollouts.read(thread.id);
    const text = writeRollout(rollout);
    assert.deepEqual(parseRollout(text), rollout);
    assert.equal(writeRollout(parseRollout(text)), text);
  }
});

test('the form is fixed: whole numbers as numbers, others as texts, absent keys left out', () => {
  const lines = writeRollout(aRollout()).split('\n');
  assert.equal(
    lines[0],
    '{"format":"ctm-rollout","version":1,"thread":{"id":"t1","agent":"codex","origin":"cli","kind":"root","repo":"github.com/acme/web","aliases":[],"cwd":".","branch":null,"commit":null,"author":null,"title":"Hi","started_at":1795946400,"updated_at":1795946401},"source":{"agent":"codex","lines":3,"bytes":99,"sha256":"00"},"skipped":{"a":1,"b":2},"redaction":{}}',
  );
  assert.equal(lines[1], '{"n":1,"at":1795946401,"who":"human","kind":"text","text":"Hi\u2028","src":{"line":1}}');
  assert.equal(
    lines[2],
    '{"n":"1.2","at":null,"who":"tool","kind":"output","text":"","tool":"shell","does":"shell","call":"c","exit":1,"files":["a"],"src":{"line":1,"id":"u"}}',
  );
  assert.equal(lines[3], '{"n":"2:7","at":null,"who":"other_agent","kind":"text","text":"x","src":{"line":7}}');
});

test('what is wrong is named with its line', () => {
  const text = writeRollout(aRollout());
  const [header = '', first = ''] = text.split('\n');
  const wrong = (changed: string, line: number, reason: RegExp) =>
    assert.throws(
      () => parseRollout(changed),
      (error) => error instanceof RolloutError && error.line === line && reason.test(error.message),
      changed.slice(0, 80),
    );
  wrong('', 1, /empty/);
  wrong('\n', 1, /no JSON/);
  wrong(text.slice(0, -5), 4, /cut/);
  wrong('{"format":"other","version":1}\n', 1, /no ctm-rollout/);
  wrong(`${header.replace('"version":1', '"version":"1"')}\n`, 1, /"version"/);
  wrong(`${header.replace('"kind":"root"', '"kind":"boss"')}\n`, 1, /"kind"/);
  wrong(`${header.replace('acme/web', `acme/${'x'.repeat(300)}`)}\n`, 1, /name of its repository is too long/);
  wrong(`${header.replace('"aliases":[]', '"aliases":[1]')}\n`, 1, /"aliases"/);
  wrong(`${header.replace('"a":1', '"a":"1"')}\n`, 1, /"skipped"/);
  wrong(`${header}\n${first}\n[]\n`, 3, /no JSON object/);
  wrong(`${header}\n${first.replace('"n":1', '"n":"../1"')}\n`, 2, /"n"/);
  wrong(`${header}\n${first.replace('"human"', '"boss"')}\n`, 2, /"who"/);
  wrong(`${header}\n${first.replace('1795946401', '1.5')}\n`, 2, /"at"/);
});

test('a newer version is refused with what to do', () => {
  const newer = writeRollout(aRollout()).replace('"version":1', '"version":2');
  assert.throws(
    () => parseRollout(newer),
    (error) => error instanceof RolloutError && /newer/.test(error.message) && /Update/.test(error.hint),
  );
});

function aRollout(): Rollout {
  return {
    thread: {
      id: 't1',
      agent: 'codex',
      origin: 'cli',
      kind: 'root',
      repo: 'github.com/acme/web',
      aliases: [],
      cwd: '.',
      branch: null,
      commit: null,
      author: null,
      title: 'Hi',
      startedAt: 1795946400,
      updatedAt: 1795946401,
    },
    source: { agent: 'codex', lines: 3, bytes: 99, sha256: '00' },
    skipped: { b: 2, a: 1 },
    redaction: {},
    items: [
      { n: '1', at: 1795946401, who: 'human', kind: 'text', text: 'Hi\u2028', src: { line: 1 } },
      {
        n: '1.2',
        at: null,
        who: 'tool',
        kind: 'output',
        text: '',
        tool: 'shell',
        does: 'shell',
        call: 'c',
        exit: 1,
        files: ['a'],
        src: { line: 1, id: 'u' },
      },
      { n: '2:7', at: null, who: 'other_agent', kind: 'text', text: 'x', src: { line: 7 } },
    ],
  };
}
