import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { changesBetween, renderChanges } from '../../scripts/workspace/changes.ts';
import { rawMemories } from '../../scripts/workspace/inputs.ts';
import { rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { aRow } from './samples.ts';

const files = (entries: Record<string, string>) => new Map(Object.entries(entries));

function diffIn(markdown: string): string {
  const fence = /^(`{3,})diff$/m.exec(markdown)?.[1] ?? '';
  return markdown.slice(markdown.indexOf(`${fence}diff\n`) + fence.length + 5, markdown.lastIndexOf(`${fence}\n`));
}

/** What Git makes of the diff: the strictest reader at hand. */
function applied(before: ReadonlyMap<string, string>, markdown: string, path: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'changes-'));
  try {
    for (const [name, text] of before) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    execFileSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', '-'], {
      cwd: folder,
      input: diffIn(markdown),
    });
    return readFileSync(join(folder, path), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('changes are listed by path as added, modified and deleted', () => {
  const before = files({ b: '1\n', c: '1\n', same: 'x' });
  const after = files({ a: '1\n', b: '2\n', same: 'x' });
  assert.deepEqual(
    changesBetween(before, after).map(({ path, status }) => `${status} ${path}`),
    ['A a', 'M b', 'D c'],
  );
  assert.deepEqual(changesBetween(before, before), []);
});

test('the diff says what happened and is one that Git applies', () => {
  const before = files({ f: Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n'), gone: 'old\n' });
  const after = files({ f: (before.get('f') ?? '').replace('line 15', 'line fifteen'), fresh: 'one\ntwo' });
  const markdown = renderChanges(changesBetween(before, after));
  assert.ok(markdown.startsWith('# Memory Workspace Diff\n'));
  assert.match(markdown, /## Status\n\n- M f\n- A fresh\n- D gone\n/);
  assert.match(markdown, /@@ -13,7 \+13,7 @@\n line 12\n/);
  assert.match(markdown, /\\ No newline at end of file/);
  assert.equal(applied(before, markdown, 'f'), after.get('f'));
  assert.equal(applied(before, markdown, 'fresh'), after.get('fresh'));
});

test('nothing changed is said so', () => {
  assert.match(renderChanges([]), /- none/);
});

test('raw memories are told thread by thread: changed, added, removed and moved', () => {
  const row = (id: string, words = id) => aRow(id, { stem: id, rawMemory: words });
  const cases: [string[], string[]][] = [
    [
      ['a', 'b', 'd', 'e'],
      ['a', 'b!', 'c', 'e'],
    ],
    [[], ['a']],
    [['a'], []],
    [
      ['a', 'b', 'c'],
      ['d', 'e'],
    ],
    [
      ['b', 'c'],
      ['a', 'b', 'c', 'd'],
    ],
  ];
  for (const [old, now] of cases) {
    const texts = [old, now].map((ids) => rawMemories(ids.map((id) => row(id.charAt(0), `words of ${id}`))));
    const [before, after] = texts.map((text) => files({ [rawMemoriesPath]: text }));
    assert.ok(before && after);
    const markdown = renderChanges(changesBetween(before, after));
    assert.equal(applied(before, markdown, rawMemoriesPath), texts[1], `${old} → ${now}`);
  }
  const moved = [
    '## Thread `a`\n1\n## Thread `b`\n2\n## Thread `c`\n3\n',
    '## Thread `c`\n3\n## Thread `a`\n1\n## Thread `b`\n2\n',
  ];
  const before = files({ [rawMemoriesPath]: moved[0] ?? '' });
  const markdown = renderChanges(changesBetween(before, files({ [rawMemoriesPath]: moved[1] ?? '' })));
  assert.equal(applied(before, markdown, rawMemoriesPath), moved[1]);
});

test('ten changed threads of four thousand show ten hunks', () => {
  const rows = (changed: string) =>
    Array.from({ length: 4_096 }, (_, at) => {
      const id = `t${String(at).padStart(5, '0')}`;
      return aRow(id, { stem: id, rawMemory: `${'words\n'.repeat(40)}${at % 410 === 0 ? changed : ''}` });
    });
  const [before, after] = ['', 'new'].map((changed) => files({ [rawMemoriesPath]: rawMemories(rows(changed)) }));
  assert.ok(before && after);
  const hunks = renderChanges(changesBetween(before, after)).match(/^@@ /gm);
  assert.equal(hunks?.length, 10);
});

test('content cannot end the fence around the diff', () => {
  const markdown = renderChanges(changesBetween(new Map(), files({ x: '```\n# injected\n`````\n' })));
  assert.match(markdown, /^`{6}diff$/m);
  assert.ok(markdown.endsWith('\n``````\n'));
});

test('two files that have nothing in common are called replaced', () => {
  const text = (letter: string) => Array.from({ length: 10_000 }, (_, at) => `${letter}${at}`).join('\n');
  const markdown = renderChanges(changesBetween(files({ x: text('a') }), files({ x: text('b') })));
  assert.match(markdown, /\[replaced: 10000 → 10000 lines\]/);
  assert.ok(markdown.length < 1_000);
});

test('a diff is cut at its bound, between characters', () => {
  const changes = changesBetween(new Map(), files({ x: '记'.repeat(2_000) }));
  for (const bound of [1_000, 1_001, 1_002]) {
    const markdown = renderChanges(changes, bound);
    assert.ok(markdown.includes(`\n[workspace diff truncated at ${bound} bytes]\n`));
    assert.ok(!markdown.includes('\ufffd'));
    const diff = diffIn(markdown).split('\n[workspace')[0] ?? '';
    assert.ok(Buffer.byteLength(diff) <= bound && Buffer.byteLength(diff) > bound - 4);
  }
});
