import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citationOf, maxCitedIds } from '../../scripts/recall/citations.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';

const full = '01a229b0-a4cb-70d0-9c00-6fba5df96ff3';

function block(ids: string, entries = ''): string {
  return `<oai-mem-citation>\n<citation_entries>\n${entries}\n</citation_entries>\n<rollout_ids>\n${ids}\n</rollout_ids>\n</oai-mem-citation>`;
}

/** Ids of an answer that ends in the block; null where it cites nothing. */
function ids(answer: string): readonly string[] | null {
  return citationOf(answer)?.ids ?? null;
}

test('an answer cites places and threads in their order', () => {
  const entries =
    'MEMORY.md:12-20|note=[how the tests run]\nrollout_summaries/2026-11-29T23-44-06-9kQz-fix.md:1-9|note=[the fix]';
  assert.deepEqual(citationOf(`Done.\n${block(`k3f7x2ab\n${full}`, entries)}\n`), {
    places: [
      { path: 'MEMORY.md', lineStart: 12, lineEnd: 20, note: 'how the tests run' },
      { path: 'rollout_summaries/2026-11-29T23-44-06-9kQz-fix.md', lineStart: 1, lineEnd: 9, note: 'the fix' },
    ],
    ids: ['k3f7x2ab', shortThreadId(full)],
  });
});

test('a thread is named by its full id, its short id or as evidence; each counts once', () => {
  const short = shortThreadId(full);
  assert.deepEqual(ids(block(`[${short}@88,91]\n${full}\n- ${short}\n\`${short}\`, [k3f7x2ab@2:7, 8.2] [k3f7x2ab]`)), [
    short,
    'k3f7x2ab',
  ]);
});

test('line breaks may be missing, ids may stand in the older tag, and a tag may not be closed', () => {
  const one =
    '<oai-mem-citation><citation_entries></citation_entries><rollout_ids>k3f7x2ab</rollout_ids></oai-mem-citation>';
  assert.deepEqual(ids(`Done.${one}`), ['k3f7x2ab']);
  assert.deepEqual(ids(block('').replace('</oai-mem', '<thread_ids>k3f7x2ab</thread_ids></oai-mem')), ['k3f7x2ab']);
  assert.deepEqual(ids('<oai-mem-citation><rollout_ids>k3f7x2ab<citation_entries>x</citation_entries>'), ['k3f7x2ab']);
  assert.deepEqual(ids(block('k3f7x2ab').replaceAll('\n', '\r\n')), ['k3f7x2ab']);
});

test('what the end of a stream cut is read as far as it came', () => {
  assert.deepEqual(ids('Done.\n<oai-mem-citation>\n<rollout_ids>\nk3f7x2ab\nabcdefgh'), ['k3f7x2ab', 'abcdefgh']);
  assert.equal(ids('Done.\n<oai-mem-citation>'), null);
});

test('a location splits at its last colon, a note at its last mark, a range at its first dash', () => {
  const places = (entry: string) => citationOf(block('', entry))?.places ?? [];
  assert.deepEqual(places('C:\\m\\MEMORY.md:1-2|note=[x]'), [
    { path: 'C:\\m\\MEMORY.md', lineStart: 1, lineEnd: 2, note: 'x' },
  ]);
  assert.deepEqual(places('a|note=[b]:3-4|note=[c|d]'), [
    { path: 'a|note=[b]', lineStart: 3, lineEnd: 4, note: 'c|d' },
  ]);
  assert.deepEqual(places('a-b.md:5-6|note=[]'), [{ path: 'a-b.md', lineStart: 5, lineEnd: 6, note: '' }]);
});

test('a line that is no place is left out: no note, no numbers, numbers beyond 32 bits', () => {
  const bad = ['a:1-2', 'a:1-2|note=[x', ':1-2|note=[x]', 'a:1|note=[x]', 'a:-1-2|note=[x]', 'a:1-2-3|note=[x]'];
  for (const entry of [...bad, 'a:1-4294967296|note=[x]', 'a:1.5-2|note=[x]', `a:1-${'9'.repeat(400)}|note=[x]`])
    assert.equal(citationOf(block('', entry)), null, entry);
  assert.equal(citationOf(block('', 'a:0-4294967295|note=[x]'))?.places[0]?.lineEnd, 4_294_967_295);
});

test('only the last block counts, and blocks do not nest', () => {
  assert.deepEqual(ids(`${block('aaaaaaaa')}\nand then\n${block('bbbbbbbb')}`), ['bbbbbbbb']);
  assert.deepEqual(ids(`<oai-mem-citation>${block('aaaaaaaa')}`), ['aaaaaaaa']);
  assert.equal(ids(`${block('aaaaaaaa')}\n</oai-mem-citation>`), null);
});

test('a block that is shown is no citation: words after it, a fence, backticks, a quote, an indent', () => {
  const shown = block('k3f7x2ab');
  const answers = [
    `${shown}\nThat is how it ends.`,
    `The format:\n\`\`\`\n${shown}\n\`\`\``,
    `The format:\n~~~~text\n\`\`\`\n${shown}`,
    `\`\`\`md\n${shown}`,
    `It is \`<oai-mem-citation><rollout_ids>k3f7x2ab</rollout_ids></oai-mem-citation>`,
    `> ${shown}`,
    `    ${shown}`,
  ];
  for (const answer of answers) assert.equal(ids(answer), null, answer);
  assert.deepEqual(ids(`\`\`\`sh\nnpm test\n\`\`\`\nRun \`npm test\`.\n${shown}`), ['k3f7x2ab']);
});

test('an answer without a block, or with an empty one, cites nothing', () => {
  for (const answer of ['', 'Done.', block(''), '<oai-mem-citation></oai-mem-citation>', '</oai-mem-citation>'])
    assert.equal(citationOf(answer), null, answer);
});

test('hostile ids are ids of nothing, never a path; more than the most have no effect', () => {
  const found =
    ids(block(`../../etc/passwd\n<script>\n${'x'.repeat(5_000)}\n\u202ek3f7x2ab\n';drop table threads;--`)) ?? [];
  for (const id of found) assert.match(id, /^[a-z2-7]{8}$/);
  assert.ok(found.length <= 8);
  const many = Array.from({ length: 3_000 }, (_, n) => `thread-${n}`).join('\n');
  assert.equal(ids(block(many))?.length, maxCitedIds);
});

test('hostile repetition costs a pass, not a square', () => {
  const openings = '<oai-mem-citation><rollout_ids><citation_entries>```\n'.repeat(60_000);
  assert.equal(citationOf(`${openings}.`)?.ids.length ?? 0, 0);
  assert.equal(citationOf('<oai-mem-citation></oai-mem-citation>'.repeat(60_000)), null);
  assert.equal(citationOf(block('`'.repeat(200_000))), null);
  assert.equal(citationOf(block('', `${'|note=['.repeat(100_000)}]`)), null);
});
