import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptBlocks } from '../../scripts/workspace/accept.ts';
import { bulletsOf, parseHandbook } from '../../scripts/workspace/handbook.ts';
import { handbookPath, memorySummaryPath, rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { a, aBlock, aContext, aWorkspace, b, first, otherRepo, repo, second } from './samples.ts';

type Context = NonNullable<Parameters<typeof aContext>[0]>;

function accepted(start: string, proposal: string, over: Context = {}) {
  const result = acceptBlocks(aWorkspace(start), aWorkspace(proposal), aContext(over));
  return { ...result, text: result.files.get(handbookPath) ?? '' };
}

const two = aBlock({ title: 'Deploying', thread: second });
const both = `${aBlock()}\n${two}`;

test('an unchanged proposal gives the start', () => {
  const { files, dropped, restored } = acceptBlocks(aWorkspace(both), aWorkspace(both), aContext());
  assert.deepEqual(files, aWorkspace(both));
  assert.deepEqual([dropped, restored], [[], 0]);
});

test('good blocks are accepted and a bad one falls back, so that no block voids a night', () => {
  const good = both.replace('port 5432', 'port 5433');
  const mixed = good.replace(`a second passed [${b}@3,4]`, 'a second passed');
  const { text, dropped } = accepted(both, mixed);
  assert.equal(text, good);
  assert.deepEqual(
    dropped.map(({ block }) => block),
    ['Deploying'],
  );
  assert.match(dropped[0]?.reason ?? '', /line \d+: .*evidence.*\(bullet\.evidence\)/);
});

test('a new block is accepted, a bad new one left out', () => {
  const fresh = aBlock({ title: 'Linting', thread: second });
  assert.equal(accepted(aBlock(), `${aBlock()}\n${fresh}`).text, `${aBlock()}\n${fresh}`);
  const bad = fresh.replace(/ \[[a-z2-7]{8}@1\]/, '');
  assert.equal(accepted(aBlock(), `${aBlock()}\n${bad}`).text, aBlock());
});

test('the agent answers only for what it changed', () => {
  const broken = aBlock({ knowledge: ['- a relic without evidence'] });
  assert.equal(
    accepted(`${broken}\n${two}`, `${broken}\n${two.replace('5432', '1')}`).text,
    `${broken}\n${two.replace('5432', '1')}`,
  );
  const edited = broken.replace('show the log', 'show the whole log');
  assert.equal(accepted(broken, edited).text, edited);
  assert.equal(accepted(broken, broken.replace('a relic', 'another')).text, broken);
});

test('a block of another scope, prose and a second block of a title are dropped', () => {
  const forged = aBlock({ title: 'Forged', repo: otherRepo });
  const { text, dropped } = accepted(
    aBlock(),
    `words\n\n${aBlock()}\n${forged}\n${aBlock({ knowledge: [`- x [${a}@3]`] })}`,
  );
  assert.equal(text, aBlock());
  assert.deepEqual(
    dropped.map(({ block }) => block),
    ['', 'Forged', 'The build'],
  );
});

test('a block that a refused one was to replace stays', () => {
  const renamed = aBlock({ title: 'Building', knowledge: ['- no evidence'] });
  assert.equal(accepted(both, `${renamed}\n${two}`).text, both);
});

test('files that are not the agent’s to write are ignored', () => {
  const proposal = aWorkspace(aBlock());
  proposal.set(rawMemoriesPath, 'forged');
  proposal.set('memories/skills/x/run.sh', 'rm');
  proposal.set('.github/memory.yml', 'x');
  proposal.set(memorySummaryPath, 'v1\n');
  const { files, dropped } = acceptBlocks(aWorkspace(aBlock()), proposal, aContext());
  assert.deepEqual(files, aWorkspace(aBlock()));
  assert.equal(dropped.length, 4);
});

test('a person’s line that the proposal lost comes back to its section', () => {
  const persons = ['- ask Kim first', '## House rules', 'Mind the gap.'];
  const start = `${aBlock({ preferences: [`- when the build fails, show the log first [${a}@1]`, '- ask Kim first'] })}\n## House rules\nMind the gap.\n`;
  const proposal = aBlock({ knowledge: [`- the tests need port 5433 [${a}@3]`] });
  const { text, restored } = accepted(start, proposal, { persons });
  assert.equal(text, start.replace('5432', '5433'));
  assert.equal(restored, 3);
});

test('a bullet without evidence is a person’s, also where nobody recorded it: no proposal loses it', () => {
  const start = aBlock({ knowledge: ['- ask Dana before lib/legacy is touched'] });
  const { text, restored } = accepted(start, start.replace('- ask Dana before lib/legacy is touched\n', ''));
  assert.match(text, /## Reusable knowledge\n- ask Dana before lib\/legacy is touched\n/);
  assert.equal(restored, 1);
});

test('a person’s line may move, and a reworded marker is not a loss', () => {
  const persons = ['- ask Kim first'];
  const start = `${aBlock({ preferences: ['- ask Kim first'] })}\n${two}`;
  const moved = `${aBlock({ preferences: [] })}\n${two.replace('## Reusable knowledge\n', '## Reusable knowledge\n* ask Kim first\n')}`;
  const { text, restored } = accepted(start, moved, { persons });
  assert.equal(restored, 0);
  assert.equal(text, moved);
});

for (const [what, theirs, given] of [
  ['in other letters', '- Ask Kim  first', '- ask kim first'],
  ['with its evidence taken off', `- ask Kim first [${a}@1,3]`, `- ask Kim first [${a}@3]`],
] as const) {
  test(`a person’s line ${what} is put back as it was written`, () => {
    const start = `${aBlock({ preferences: [theirs] })}\n${two}`;
    const { text, restored } = accepted(start, start.replace(theirs, given), { persons: [theirs] });
    assert.equal(restored, 1);
    assert.equal(text, start);
  });
}

test('a person’s line may get the evidence of another session', () => {
  const theirs = `- ask Kim first [${a}@1]`;
  const start = `${aBlock({ preferences: [theirs] })}\n${two}`;
  const more = start.replace(theirs, `${theirs} [${b}@1]`);
  const { text, restored } = accepted(start, more, { persons: [theirs] });
  assert.deepEqual([text, restored], [more, 0]);
});

test('a person’s line outlives its block', () => {
  const persons = ['- ask Kim first'];
  const start = `${both}\n${aBlock({ title: 'Old', preferences: ['- ask Kim first'], knowledge: [], failures: [] })}`;
  const { text } = accepted(start, both, { persons });
  assert.ok(text.startsWith(both));
  assert.ok(
    text.endsWith(
      `# Task Group: Old\nscope: building and testing\napplies_to: repo=${repo}; cwd=.; reuse_rule=holds for this checkout\n\n## User preferences\n- ask Kim first\n`,
    ),
  );
});

test('a person’s line is put back below a code fence that was left open, not into it', () => {
  const open = aBlock({ failures: [`- the first run timed out [${a}@3]`, '```', 'make'] });
  const start = `${open}\n${aBlock({ title: 'Kim', preferences: ['- ask Kim first'] })}`;
  const proposal = `${open}\n${aBlock({ title: 'Kim', preferences: [] })}`;
  const persons = ['- ask Kim first', 'make'];
  const put = accepted(start.replace('# Task Group: Kim', '# Task Group: The build'), proposal, { persons }).text;
  assert.ok(put.includes('make\n```\n'), put);
  assert.deepEqual(
    parseHandbook(put)
      .blocks.flatMap(bulletsOf)
      .filter(({ text }) => text === 'ask Kim first').length,
    1,
  );
});

test('losing more than three tenths without a reason refuses the handbook', () => {
  const bullets = Array.from({ length: 10 }, (_, at) => `- fact ${at} of the build [${a}@${at + 10}]`);
  const start = aBlock({ preferences: [], knowledge: bullets, failures: [] });
  const keep = (count: number) => aBlock({ preferences: [], knowledge: bullets.slice(0, count), failures: [] });
  assert.equal(accepted(start, keep(7)).text, keep(7));
  const refused = accepted(start, keep(6));
  assert.equal(refused.text, start);
  assert.deepEqual(refused.shrinkage, { lost: 4, of: 10 });
  assert.equal(accepted(start, '').text, start);
});

test('deleted inputs, merges and supersessions are reasons to shrink', () => {
  const bullets = Array.from({ length: 10 }, (_, at) => `- fact ${at} of the build [${at < 5 ? a : b}@${at + 10}]`);
  const start = aBlock({ preferences: [], knowledge: bullets, failures: [] });
  const without = aBlock({ preferences: [], knowledge: bullets.slice(5), failures: [] });
  assert.equal(accepted(start, without, { deletedThreads: new Set([a]) }).text, without);
  assert.equal(accepted(start, without, { deletedThreads: new Set([b]) }).text, start);
  const merged = aBlock({
    preferences: [],
    knowledge: [...bullets.slice(5), `- all of it in one [${a}@10,11,12,13,14]`],
    failures: [],
  });
  assert.equal(accepted(start, merged).text, merged);
});

test('a scope’s budget refuses the block that breaks it, not the others', () => {
  const large = aBlock({ title: 'Large', thread: second, knowledge: [`- ${'x'.repeat(262_144)} [${b}@3]`] });
  const small = aBlock().replace('5432', '5433');
  const { text, dropped } = accepted(aBlock(), `${large}\n${small}`);
  assert.equal(text, small);
  assert.match(dropped[0]?.reason ?? '', /262144 bytes/);
});

const skill = (name: string, body = 'Run make.') =>
  `---\nname: ${name}\ndescription: d\nmetadata:\n  repo: ${repo}\n---\n${body}\n`;
const skillPath = (name: string) => `memories/skills/${name}/SKILL.md`;

test('skills are accepted one by one, and a person’s is read-only', () => {
  const start = new Map([
    [skillPath('kims'), skill('kims')],
    [skillPath('old'), skill('old')],
    [skillPath('stays'), skill('stays')],
  ]);
  const proposal = new Map([
    [skillPath('kims'), skill('kims', 'Changed.')],
    [skillPath('stays'), skill('stays', '!`rm`')],
    [skillPath('fresh'), skill('fresh')],
    [skillPath('bad'), skill('other')],
  ]);
  const { files, dropped } = acceptBlocks(
    start,
    proposal,
    aContext({ isPersonSkill: (path) => path === skillPath('kims') }),
  );
  assert.deepEqual(
    [...files],
    [
      [skillPath('fresh'), skill('fresh')],
      [skillPath('kims'), skill('kims')],
      [skillPath('stays'), skill('stays')],
    ],
  );
  assert.deepEqual(
    dropped.map(({ block }) => block),
    [skillPath('bad'), skillPath('kims'), skillPath('stays')],
  );
});

test('the memory summary is accepted for * alone, with persons’ lines put back', () => {
  const summary = (tips: string) =>
    `v1\n\n## User Profile\n\n## User preferences\n\n## General Tips\n${tips}\n\n## What's in Memory\n- ${repo}: builds\n`;
  const start = new Map([[memorySummaryPath, summary('- Kim’s own')]]);
  const context = aContext({ scope: '*', persons: ['- Kim’s own'] });
  const propose = (text: string) => acceptBlocks(start, new Map([[memorySummaryPath, text]]), context);
  assert.equal(
    propose(summary(`- test first [${a}@1]`)).files.get(memorySummaryPath),
    summary(`- test first [${a}@1]\n- Kim’s own`),
  );
  assert.equal(propose(summary('- obey the page')).files.get(memorySummaryPath), summary('- Kim’s own'));
  assert.equal(propose('v2').files.get(memorySummaryPath), summary('- Kim’s own'));
  assert.equal(acceptBlocks(start, new Map(), context).files.get(memorySummaryPath), summary('- Kim’s own'));
});

test('a proposal that has nothing in common with the start is judged without delay', () => {
  const lines = (word: string) => Array.from({ length: 4_000 }, (_, at) => `- ${word} ${at} [${a}@3]`);
  const start = aBlock({ knowledge: lines('old') });
  const { shrinkage } = accepted(
    start,
    aBlock({ title: first, knowledge: lines('new').map((line) => line.replace('@3', '@5')) }),
  );
  assert.ok((shrinkage?.lost ?? 0) > 3_999);
});
