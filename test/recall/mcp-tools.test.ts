import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { countTokens } from '../../scripts/shared/tokens.ts';
import { type Served, scratchFolder, startMcp } from '../support/mcp.ts';
import { writeFiles } from '../support/repository.ts';

interface Page {
  readonly next_cursor: string | null;
  readonly truncated: boolean;
}
interface Listed extends Page {
  readonly path: string;
  readonly entries: readonly { readonly path: string; readonly entry_type: string }[];
}
interface Read {
  readonly start_line_number: number;
  readonly content: string;
  readonly truncated: boolean;
}
interface Searched extends Page {
  readonly match_mode: object;
  readonly matches: readonly {
    readonly path: string;
    readonly match_line_number: number;
    readonly content_start_line_number: number;
    readonly content: string;
    readonly matched_queries: readonly string[];
  }[];
}

const words = Array.from({ length: 30_000 }, (_, index) => `word ${index}`).join('\n');
const many = Object.fromEntries(
  Array.from({ length: 2_001 }, (_, index) => [`memories/many/n${String(index).padStart(4, '0')}.md`, '']),
);
const clone = scratchFolder({
  'memories/MEMORY.md': 'alpha one\nbeta\ngamma one beta\n\nalpha two\n',
  'memories/notes.md': 'first line\r\nsecond line\r\n',
  'memories/long.md': `${words}\n`,
  'memories/spread.md': 'start\nred\nx\ngreen\nred\ny\ny\ny\ny\nred\nz\ngreen\n',
  'memories/cjk.md': '数据库的时间统一使用 UTC。\nＦｕｌｌ width\nsnake_case-name\nGroß und klein\n',
  'memories/wide.md': `${'x'.repeat(20_000)}needle-in-hay\n`,
  'memories/empty.md': '',
  'memories/repeats.txt': 'needle\n'.repeat(450),
  ...many,
});
const home = scratchFolder();
let served: Served;

before(async () => {
  served = await startMcp(['--memory', clone, '--cwd', clone], home);
});

const lines = (found: Searched) => found.matches.map((match) => `${match.path}:${match.match_line_number}`);
const search = (args: Record<string, unknown>) => served.call<Searched>('search', args);

test('the four tools are offered with schemas that deny unknown fields', async () => {
  const { tools } = await served.client.listTools();
  assert.deepEqual(
    tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
    [
      ['list', true],
      ['read', true],
      ['search', true],
      ['add_ad_hoc_note', false],
    ],
  );
  for (const { inputSchema, outputSchema } of tools) {
    assert.equal(inputSchema.additionalProperties, false);
    assert.equal(outputSchema?.type, 'object');
  }
});

test('list shows one level in the order of paths', async () => {
  const { entries, path } = await served.call<Listed>('list');
  assert.equal(path, '');
  assert.deepEqual(
    entries.map((entry) => `${entry.path} ${entry.entry_type}`),
    [
      'MEMORY.md file',
      'cjk.md file',
      'empty.md file',
      'long.md file',
      'many directory',
      'notes.md file',
      'repeats.txt file',
      'spread.md file',
      'wide.md file',
    ],
  );
});

test('a file lists itself', async () => {
  const { entries } = await served.call<Listed>('list', { path: 'many/n0003.md' });
  assert.deepEqual(entries, [{ path: 'many/n0003.md', entry_type: 'file' }]);
});

test('a list has at most 2,000 entries, whatever was asked for, and its cursor leads on to the end', async () => {
  const first = await served.call<Listed>('list', { path: 'many', max_results: 9_999 });
  assert.equal(first.entries.length, 2_000);
  assert.deepEqual([first.next_cursor, first.truncated], ['2000', true]);
  const last = await served.call<Listed>('list', { path: 'many/', cursor: '2000' });
  assert.deepEqual(last.entries, [{ path: 'many/n2000.md', entry_type: 'file' }]);
  assert.deepEqual([last.next_cursor, last.truncated], [null, false]);
  const none = await served.call<Listed>('list', { path: 'many', cursor: '2001' });
  assert.deepEqual(none.entries, []);
});

test('read gives a file, or some of its lines', async () => {
  assert.deepEqual(await served.call('read', { path: 'MEMORY.md' }), {
    path: 'MEMORY.md',
    start_line_number: 1,
    content: 'alpha one\nbeta\ngamma one beta\n\nalpha two',
    truncated: false,
  });
  const part = await served.call<Read>('read', { path: './MEMORY.md', line_offset: 2, max_lines: 2 });
  assert.deepEqual([part.start_line_number, part.content, part.truncated], [2, 'beta\ngamma one beta', true]);
  const end = await served.call<Read>('read', { path: 'MEMORY.md', line_offset: 5, max_lines: 9 });
  assert.deepEqual([end.content, end.truncated], ['alpha two', false]);
});

test('line ends of Windows are line ends; an empty file is read', async () => {
  assert.equal((await served.call<Read>('read', { path: 'notes.md' })).content, 'first line\nsecond line');
  assert.equal((await served.call<Read>('read', { path: 'empty.md' })).content, '');
});

test('more than 20,000 tokens are cut in the middle', async () => {
  const { content, truncated } = await served.call<Read>('read', { path: 'long.md' });
  assert.equal(truncated, true);
  assert.ok(countTokens(content) <= 20_000);
  assert.match(content, /^word 0\n/);
  assert.match(content, /…\d+ tokens truncated…/);
  assert.match(content, /word 29999$/);
});

test('search finds lines that hold any of the queries, by path and line', async () => {
  const found = await search({ queries: ['beta', 'alpha'] });
  assert.deepEqual(found.match_mode, { type: 'any' });
  assert.deepEqual(lines(found), ['MEMORY.md:1', 'MEMORY.md:2', 'MEMORY.md:3', 'MEMORY.md:5']);
  assert.deepEqual(found.matches[2]?.matched_queries, ['beta']);
});

test('all_on_same_line wants every query in one line', async () => {
  const found = await search({ queries: ['one', 'beta'], match_mode: { type: 'all_on_same_line' } });
  assert.deepEqual(lines(found), ['MEMORY.md:3']);
  assert.deepEqual(found.matches[0]?.matched_queries, ['one', 'beta']);
});

test('all_within_lines gives the smallest windows only', async () => {
  const within = (lineCount: number) =>
    search({
      queries: ['red', 'green'],
      path: 'spread.md',
      match_mode: { type: 'all_within_lines', line_count: lineCount },
    });
  assert.deepEqual((await within(1)).matches, []);
  const found = await within(3);
  assert.deepEqual(
    found.matches.map(({ match_line_number, content }) => [match_line_number, content]),
    [
      [2, 'red\nx\ngreen'],
      [4, 'green\nred'],
      [10, 'red\nz\ngreen'],
    ],
  );
  assert.deepEqual(found.match_mode, { type: 'all_within_lines', line_count: 3 });
  assert.equal((await within(10)).matches.length, 3, 'a window that holds a smaller one is none');
});

test('context comes with its own first line', async () => {
  const { matches } = await search({ queries: ['gamma'], context_lines: 1 });
  assert.deepEqual(matches[0], {
    path: 'MEMORY.md',
    match_line_number: 3,
    content_start_line_number: 2,
    content: 'beta\ngamma one beta\n',
    matched_queries: ['gamma'],
  });
});

test('case counts unless it is told not to', async () => {
  assert.deepEqual(lines(await search({ queries: ['ALPHA'] })), []);
  assert.deepEqual(lines(await search({ queries: ['ALPHA'], case_sensitive: false })), ['MEMORY.md:1', 'MEMORY.md:5']);
});

test('normalized compares letters and digits alone, also full-width ones', async () => {
  assert.deepEqual(lines(await search({ queries: ['snakecase name'], normalized: true })), ['cjk.md:3']);
  assert.deepEqual(lines(await search({ queries: ['Full-width'], normalized: true })), ['cjk.md:2']);
  assert.deepEqual(lines(await search({ queries: ['snakecase name'] })), []);
});

test('Chinese is found word for word, and by a question', async () => {
  assert.deepEqual(lines(await search({ queries: ['时间统一'] })), ['cjk.md:1']);
  const found = await search({ queries: ['时间怎么保存在数据库里？'], match_mode: { type: 'ranked' } });
  assert.equal(lines(found)[0], 'cjk.md:1');
});

test('a search gives at most 200 matches; its cursor leads on to the end', async () => {
  const first = await search({ queries: ['needle'], path: 'repeats.txt', max_results: 500 });
  assert.deepEqual([first.matches.length, first.next_cursor, first.truncated], [200, '200', true]);
  const seen = new Set(lines(first));
  let cursor = first.next_cursor;
  while (cursor !== null) {
    const page: Searched = await search({ queries: ['needle'], path: 'repeats.txt', cursor });
    for (const line of lines(page)) seen.add(line);
    cursor = page.next_cursor;
  }
  assert.equal(seen.size, 450);
});

test('a line that is too long is shown in part, and the answer says so', async () => {
  const { matches, truncated } = await search({ queries: ['needle-in-hay'] });
  assert.ok(Buffer.byteLength(matches[0]?.content ?? '') <= 8_192);
  assert.match(matches[0]?.content ?? '', /bytes truncated….*needle-in-hay$/);
  assert.equal(truncated, true);
});

test('a ranked search gives ten passages unless it is asked for more, best first', async () => {
  const heaps = Array.from(
    { length: 30 },
    (_, index) => `- Heap ${index} of ${'gravel '.repeat(1 + (index % 7))}${index}\n`,
  );
  writeFiles(clone, {
    'memories/heaps/heaps.md': `${heaps.join('\n')}\n- Gravel, and where the gravel heap is sieved\n`,
  });
  const ask = (more: object) =>
    search({ queries: ['Where is gravel sieved?'], match_mode: { type: 'ranked' }, path: 'heaps', ...more });
  const found = await ask({});
  assert.deepEqual(found.match_mode, { type: 'ranked' });
  assert.match(found.matches[0]?.content ?? '', /sieved$/);
  assert.deepEqual([found.matches.length, found.next_cursor, found.truncated], [10, '10', true]);
  const next = await ask({ cursor: '10', max_results: 200 });
  assert.equal(new Set([...lines(found), ...lines(next)]).size, 10 + next.matches.length);
});

test('a ranked search sees a file that has changed, a new one and one that is gone', async () => {
  const ask = () => search({ queries: ['where do parcels wait'], match_mode: { type: 'ranked' }, path: 'changing' });
  writeFiles(clone, { 'memories/changing/a.md': 'Parcels wait in the yard.\n' });
  assert.deepEqual(lines(await ask()), ['changing/a.md:1']);
  writeFiles(clone, {
    'memories/changing/a.md': 'Nothing.\n',
    'memories/changing/b.md': '\nParcels wait in the hall.\n',
  });
  assert.deepEqual(lines(await ask()), ['changing/b.md:2']);
});

for (const [what, tool, args, says] of [
  ['an unknown field', 'list', { recursive: true }, /“recursive” is no argument of list.*path, cursor, max_results/],
  [
    'an unknown field of the mode',
    'search',
    { queries: ['a'], match_mode: { type: 'any', x: 1 } },
    /“x” is no argument/,
  ],
  ['no result at all', 'list', { max_results: 0 }, /whole number of at least 1/],
  ['half a result', 'list', { max_results: 1.5 }, /whole number/],
  ['a number as text', 'search', { queries: ['a'], max_results: '5' }, /whole number/],
  ['a cursor that is none', 'list', { cursor: '-1' }, /cursor “-1” is none/],
  ['a cursor beyond the end', 'list', { cursor: '99' }, /beyond the/],
  ['a search’s cursor beyond the end', 'search', { queries: ['gamma'], cursor: '2' }, /beyond the 1 results/],
  ['reading nothing', 'read', {}, /“path” of read must be given/],
  ['a line before the first', 'read', { path: 'MEMORY.md', line_offset: 0 }, /at least 1/],
  ['a line beyond the end', 'read', { path: 'MEMORY.md', line_offset: 6 }, /has 5 lines, so none at 6/],
  ['no lines', 'read', { path: 'MEMORY.md', max_lines: 0 }, /at least 1/],
  ['a folder that is read', 'read', { path: 'many' }, /is a folder/],
  ['no query', 'search', { queries: [] }, /query is missing or blank/],
  ['a blank query', 'search', { queries: ['a', ' \t'] }, /query is missing or blank/],
  ['queries that are no list', 'search', { queries: 'a' }, /list of texts/],
  ['a query with a line end', 'search', { queries: ['a\nb'] }, /part of one line/],
  ['a query of signs alone, normalized', 'search', { queries: ['--'], normalized: true }, /needs a letter/],
  ['too many queries', 'search', { queries: Array.from({ length: 33 }, () => 'a') }, /at most 32/],
  ['a query that is too long', 'search', { queries: ['a'.repeat(1_001)] }, /at most 1000 characters/],
  ['arguments that are too large', 'search', { queries: ['a'], path: 'x'.repeat(70_000) }, /more than 65536 bytes/],
  ['an unknown mode', 'search', { queries: ['a'], match_mode: { type: 'regex' } }, /any, all_on_same_line/],
  ['windows of no size', 'search', { queries: ['a'], match_mode: { type: 'all_within_lines' } }, /needs line_count/],
  [
    'windows of no lines',
    'search',
    { queries: ['a'], match_mode: { type: 'all_within_lines', line_count: 0 } },
    /at least 1/,
  ],
  [
    'a size where none counts',
    'search',
    { queries: ['a'], match_mode: { type: 'any', line_count: 2 } },
    /no part of any/,
  ],
  ['too much context', 'search', { queries: ['a'], context_lines: 101 }, /at most 100/],
  ['a path that leads out', 'read', { path: 'many/../../state.sqlite.json' }, /leads out/],
  ['an absolute path', 'read', { path: '/etc/passwd' }, /absolute/],
  ['a path with a drive', 'read', { path: 'C:/x' }, /drive/],
  ['a path with a backslash', 'read', { path: 'many\\n0001.md' }, /backslash/],
  ['a path with a control character', 'read', { path: 'a\u0007b' }, /control character/],
  ['a hidden file', 'read', { path: '.git/config' }, /not found/],
  ['a hidden part further in', 'list', { path: 'many/.secret/x' }, /not found/],
  ['a file that is not there', 'read', { path: 'nope.md' }, /not found/],
  ['a file as a folder', 'read', { path: 'MEMORY.md/x' }, /is a file, not a folder/],
] as const) {
  test(`${what} is refused, and the answer says what to do`, async () => {
    const answer = await served.refusal(tool, args as Record<string, unknown>);
    assert.match(answer, says);
    assert.match(answer, /\. [A-Z].*\.$/, 'a remedy follows');
  });
}

test('a tool that is not there is an error of the protocol', async () => {
  await assert.rejects(served.client.callTool({ name: 'shell', arguments: {} }), /There is no tool shell/);
});

const name = '2026-11-30T08-15-00-use-pnpm.md';

test('a note is kept verbatim on this laptop, as an agent’s, and nothing of the memory is touched', async () => {
  const note = 'Use pnpm, not npm.\n\n- said twice \n';
  assert.deepEqual(await served.call('add_ad_hoc_note', { filename: name, note }), {});
  assert.equal(readFileSync(join(spool(), 'extensions/ad_hoc/notes', name), 'utf8'), note);
  assert.deepEqual(JSON.parse(readFileSync(join(spool(), 'about', `${name}.json`), 'utf8')), {
    format: 'ctm-note',
    version: 1,
    authority: 'agent',
    channel: 'mcp',
    memory: clone,
    repo: 'none',
    at: '2026-12-01T03:17:00Z',
  });
  assert.equal(existsSync(join(clone, 'memories/extensions')), false);
});

test('a second note of the same name is refused and the first stays', async () => {
  const answer = await served.refusal('add_ad_hoc_note', { filename: name, note: 'other' });
  assert.match(answer, /There is a note .* already\. Take another name/);
  assert.match(readFileSync(join(spool(), 'extensions/ad_hoc/notes', name), 'utf8'), /^Use pnpm/);
});

test('a name that a note of the memory has is taken', async () => {
  const taken = '2026-11-30T08-16-00-taken.md';
  writeFiles(clone, { [`memories/extensions/ad_hoc/notes/${taken}`]: 'x\n' });
  assert.match(await served.refusal('add_ad_hoc_note', { filename: taken, note: 'y' }), /already/);
});

test('secrets in a note are masked before it is stored', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  await served.call('add_ad_hoc_note', { filename: '2026-11-30T08-17-00-token.md', note: `the token is ${secret}` });
  const kept = readFileSync(join(spool(), 'extensions/ad_hoc/notes/2026-11-30T08-17-00-token.md'), 'utf8');
  assert.equal(kept, 'the token is [REDACTED_SECRET]');
});

for (const [what, args, says] of [
  ['a name with a folder', { filename: '../2026-11-30T08-15-00-x.md' }, /proper name/],
  ['a name without a time', { filename: 'use-pnpm.md' }, /proper name/],
  ['a time that there is not', { filename: '2026-13-30T08-15-00-x.md' }, /proper name/],
  ['a slug in capitals', { filename: '2026-11-30T08-15-00-Use.md' }, /proper name/],
  ['a slug that begins with a dash', { filename: '2026-11-30T08-15-00--x.md' }, /proper name/],
  ['a slug of 81 characters', { filename: `2026-11-30T08-15-00-${'a'.repeat(81)}.md` }, /proper name/],
  ['a blank note', { filename: '2026-11-30T09-15-00-x.md', note: ' \n\t' }, /is blank/],
  [
    'a note that is too long',
    { filename: '2026-11-30T09-15-00-x.md', note: 'é'.repeat(4_097) },
    /more than 8192 bytes/,
  ],
  ['a note with a NUL', { filename: '2026-11-30T09-15-00-x.md', note: 'a\0b' }, /no proper text/],
] as const) {
  test(`${what} is no note`, async () => {
    assert.match(await served.refusal('add_ad_hoc_note', { note: 'x', ...args }), says);
  });
}

test('what was refused left nothing behind, and standard error is quiet', () => {
  assert.deepEqual(readdirSync(join(spool(), 'extensions/ad_hoc/notes')).sort(), [
    name,
    '2026-11-30T08-17-00-token.md',
  ]);
  assert.equal(served.stderr(), '');
});

function spool(): string {
  const [folder = ''] = readdirSync(join(home, 'state/notes'));
  return join(home, 'state/notes', folder);
}
