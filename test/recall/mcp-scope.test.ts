import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { type Served, scratchFolder, startMcp } from '../support/mcp.ts';
import { git } from '../support/repository.ts';

interface Searched {
  readonly matches: readonly { readonly path: string; readonly match_line_number: number; readonly content: string }[];
  readonly left_out: number;
}

const shop = 'git.example.test/acme/shop';
const near = 'git.example.test/acme/shop-api';

const block = (repo: string, words: string) => `# Task Group: ${words}
scope: what sessions showed
applies_to: repo=${repo}; cwd=.; reuse_rule=look first

## Task 1: The parcel of ${words}
### rollout_summary_files
- rollout_summaries/s.md (cwd=., thread_id=t)
### keywords
- parcel

## User preferences
- parcels of ${words} go by rail [abcdefgh@1]
`;

const summaryOf = (repo: string, words: string) => `thread_id: t-${words}
thread: abcdefgh
repo: ${repo}
cwd: .

# ${words}

## Task 1: parcels of ${words}

Request: "send the parcels of ${words}" (@1)
`;

const rawOf = (repo: string, words: string) =>
  `## Thread \`t-${words}\`\nthread: abcdefgh\nrepo: ${repo}\ncwd: .\n\nparcels of ${words}\n\n`;

const skillOf = (repo: string, name: string) =>
  `---\nname: ${name}\ndescription: how parcels are packed\nmetadata:\n  repo: "${repo}"\n---\n\nPack parcels in ${name}.\n`;

const memory = scratchFolder({
  'memories/MEMORY.md': `Parcels of nobody.\n\n${block(shop, 'mine')}\n${block(near, 'theirs')}\n${block('*', 'all')}\n`,
  'memories/memory_summary.md': `v1\n\n## User Profile\n\n## User preferences\n- parcels matter\n\n## General Tips\n\n## What's in Memory\n- ${shop}: parcels mine\n- ${near}: parcels theirs\n`,
  'memories/raw_memories.md': `# Raw Memories\n\nMerged parcels:\n\n${rawOf(shop, 'mine')}${rawOf(near, 'theirs')}`,
  'memories/rollout_summaries/2026-11-29T10-00-00-aaaa-mine.md': summaryOf(shop, 'mine'),
  'memories/rollout_summaries/2026-11-29T10-00-00-bbbb-theirs.md': summaryOf(near, 'theirs'),
  'memories/skills/mine/SKILL.md': skillOf(shop, 'mine'),
  'memories/skills/theirs/SKILL.md': skillOf(near, 'theirs'),
});
const home = scratchFolder();
const checkout = scratchFolder({ 'src/index.ts': '' });
git(checkout, 'init', '--quiet');
git(checkout, 'remote', 'add', 'origin', 'git@git.example.test:acme/shop.git');
let inShop: Served;
let nowhere: Served;

before(async () => {
  [inShop, nowhere] = await Promise.all([
    startMcp(['--memory', memory, '--cwd', join(checkout, 'src')], home),
    startMcp(['--memory', memory, '--cwd', memory], home),
  ]);
});

const search = (served: Served, args: object) => served.call<Searched>('search', { queries: ['arcels of'], ...args });
const told = ({ matches }: Searched) => matches.map(({ content }) => content).join('\n');
const ranked = { queries: ['how do parcels travel'], match_mode: { type: 'ranked' } };

test('a search in a repository gives its lines, everybody’s and nobody’s, and counts the others', async () => {
  const found = await search(inShop, { queries: ['arcels'] });
  assert.doesNotMatch(told(found), /theirs/);
  for (const file of ['MEMORY.md', 'memory_summary.md', 'raw_memories.md', 'rollout_summaries', 'skills/mine'])
    assert.ok(
      found.matches.some(({ path }) => path.startsWith(file)),
      file,
    );
  assert.match(told(found), /parcels of all go by rail/);
  assert.match(told(found), /Parcels of nobody/);
  assert.equal(found.left_out, 7);
});

test('a ranked search keeps to the same lines', async () => {
  const found = await search(inShop, ranked);
  assert.ok(found.matches.length > 0);
  assert.doesNotMatch(told(found), /theirs/);
  assert.ok(found.left_out > 0);
});

test('context never shows a line of another repository', async () => {
  const { matches } = await search(inShop, { queries: ['parcels of mine go'], context_lines: 20 });
  assert.equal(matches.length, 1);
  assert.doesNotMatch(matches[0]?.content ?? '', /theirs/);
  assert.match(matches[0]?.content ?? '', /^# Task Group: mine|Parcels of nobody/);
});

test('windows do not reach into another repository’s block', async () => {
  const mode = { type: 'all_within_lines', line_count: 50 };
  const found = await search(inShop, { queries: ['of mine go by rail', 'Task Group: theirs'], match_mode: mode });
  assert.deepEqual([found.matches.length, found.left_out], [0, 1]);
});

for (const [what, more] of [
  ['all_repositories', { all_repositories: true }],
  ['an explicit path', { path: 'MEMORY.md' }],
] as const) {
  test(`${what} asks for the others, too`, async () => {
    for (const mode of [{}, ranked]) {
      const found = await search(inShop, { ...mode, ...more });
      assert.match(told(found), /of theirs/);
      assert.match(told(found), /of mine/);
      assert.equal(found.left_out, 0);
    }
  });
}

test('of lines of the same worth the session’s own come first', async () => {
  const { matches } = await search(inShop, { ...ranked, path: 'MEMORY.md' });
  assert.match(matches[0]?.content ?? '', /of mine go by rail/);
});

test('outside any repository only what holds everywhere, or is nobody’s, is found', async () => {
  const found = await search(nowhere, {});
  assert.deepEqual(
    found.matches.map(({ content }) => content),
    ['Parcels of nobody.', '- parcels of all go by rail [abcdefgh@1]'],
  );
});

test('resources are the summary, this repository’s blocks and those for all', async () => {
  const { resources } = await inShop.client.listResources();
  assert.deepEqual(
    resources.map(({ uri }) => uri),
    ['memory://summary', `memory://blocks/${shop}`, 'memory://blocks/*'],
  );
  const text = async (uri: string) => {
    const { contents } = await inShop.client.readResource({ uri });
    const [content] = contents;
    return content !== undefined && 'text' in content ? content.text : '';
  };
  assert.match(await text(`memory://blocks/${shop}`), /^# Task Group: mine\n/);
  assert.doesNotMatch(await text('memory://summary'), /theirs/);
  assert.match(await text('memory://summary'), /^v1\n[\s\S]*parcels mine/);
  await assert.rejects(text(`memory://blocks/${near}`), /no such resource/);
  await assert.rejects(text('memory://../state.sqlite.json'), /no such resource/);
});

test('a note says which repository its session was in', async () => {
  const filename = '2026-11-30T08-15-00-rail.md';
  await inShop.call('add_ad_hoc_note', { filename, note: 'Parcels go by rail.' });
  const [spool = ''] = readdirSync(join(home, 'state/notes'));
  const about = JSON.parse(readFileSync(join(home, 'state/notes', spool, `about/${filename}.json`), 'utf8'));
  assert.deepEqual([about.repo, about.authority, about.channel], [shop, 'agent', 'mcp']);
});
