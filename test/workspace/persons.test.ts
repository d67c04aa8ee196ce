import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { lineHash } from '../../scripts/workspace/lines.ts';
import { indexTexts } from '../../scripts/workspace/near.ts';
import { personsChanges } from '../../scripts/workspace/persons.ts';
import { a, aBlock, b, otherRepo, repo } from './samples.ts';

const handbook = (text: string) => new Map([[handbookPath, text]]);

function changes(before: string, after: string) {
  const { added, removed } = personsChanges(handbook(before), handbook(after), repo);
  return { added: added.map(({ text }) => text), removed: removed.map(({ text }) => text) };
}

test('an untouched handbook, or one with other line ends, changes nothing', () => {
  assert.deepEqual(changes(aBlock(), aBlock()), { added: [], removed: [] });
  assert.deepEqual(changes(aBlock(), aBlock().replace(/\n/g, '\r\n').replace('- the tests', '*  The tests')), {
    added: [],
    removed: [],
  });
});

test('a line that people wrote is theirs, with or without evidence', () => {
  const after = `${aBlock({ knowledge: [`- the tests need port 5432 [${a}@3]`, '- ask Kim'] })}\n## House rules\nMind the gap.\n`;
  assert.deepEqual(changes(aBlock(), after).added, ['- ask Kim', '## House rules', 'Mind the gap.']);
});

test('a bullet that people deleted is removed, and its evidence is what to forget', () => {
  const { removed } = personsChanges(handbook(aBlock()), handbook(aBlock({ knowledge: [], failures: [] })), repo);
  assert.deepEqual(
    removed.map(({ hash, uncited }) => [hash, uncited]),
    [
      [lineHash('- the tests need port 5432'), [{ thread: a, items: ['3'] }]],
      [lineHash('- the first run timed out; a second passed'), [{ thread: a, items: ['3', '4'] }]],
    ],
  );
});

test('evidence that another standing line cites is not to forget', () => {
  const { removed } = personsChanges(handbook(aBlock()), handbook(aBlock({ knowledge: [] })), repo);
  assert.deepEqual(removed[0]?.uncited, []);
  const failures = personsChanges(handbook(aBlock()), handbook(aBlock({ failures: [] })), repo).removed;
  assert.deepEqual(failures[0]?.uncited, [{ thread: a, items: ['4'] }]);
});

test('a moved line is neither added nor removed', () => {
  const bullet = `- the tests need port 5432 [${a}@3]`;
  const after = `${aBlock({ knowledge: [] })}\n${aBlock({ title: 'Ports', preferences: [], knowledge: [bullet], failures: [] })}`;
  assert.deepEqual(changes(aBlock(), after), { added: [], removed: [] });
  const elsewhere = `${aBlock({ knowledge: [] })}\n${aBlock({ title: 'Ports', repo: otherRepo, knowledge: [bullet] })}`;
  assert.deepEqual(changes(aBlock(), elsewhere).removed, []);
});

test('a reworded line is theirs and not removed: nearly the same words, or the same evidence', () => {
  const near = aBlock({ knowledge: ['- the tests need port 5433'] });
  assert.deepEqual(changes(aBlock(), near), { added: ['- the tests need port 5433'], removed: [] });
  const same = aBlock({ knowledge: [`- databases listen elsewhere [${a}@3]`] });
  assert.deepEqual(changes(aBlock(), same), { added: [`- databases listen elsewhere [${a}@3]`], removed: [] });
});

test('a whole block or file that people deleted is removed line by line', () => {
  assert.equal(changes(aBlock(), '').removed.length, 3);
  assert.equal(personsChanges(handbook(aBlock()), new Map(), repo).removed.length, 3);
});

test('another scope’s changes are not this one’s', () => {
  const other = aBlock({ repo: otherRepo });
  assert.deepEqual(changes(`${aBlock()}\n${other}`, aBlock()), { added: [], removed: [] });
});

test('lines of the memory summary belong to *', () => {
  const summary = (tips: string) => new Map([[memorySummaryPath, `v1\n\n## General Tips\n${tips}\n`]]);
  const { added, removed } = personsChanges(summary(`- test first [${a}@1]`), summary('- ask Kim'), '*');
  assert.deepEqual(
    [added.map(({ text }) => text), removed.map(({ text }) => text)],
    [['- ask Kim'], [`- test first [${a}@1]`]],
  );
});

test('Chinese and Arabic are compared by what they say', () => {
  const near = indexTexts(['构建失败时先看完整的日志再修改', 'عند الفشل اعرض السجل أولا', '使用 pnpm']);
  assert.deepEqual(near.of('构建失败时先看完整的日志再提交'), [0]);
  assert.deepEqual(near.of('عند الفشل اعرض السجل'), [1]);
  assert.deepEqual(near.of('完全不同的句子'), []);
  assert.deepEqual(near.of(''), []);
});

test('ten thousand lines replaced by others are compared without delay', () => {
  const lines = (word: string, thread: string) =>
    aBlock({
      knowledge: Array.from(
        { length: 10_000 },
        (_, at) => `- ${word} words that all lines share ${at} [${thread}@${at}]`,
      ),
    });
  const { added, removed } = personsChanges(
    handbook(lines('old', a)),
    handbook(lines('entirely new and other', b)),
    repo,
  );
  assert.equal(added.length, 10_000);
  assert.ok(removed.length <= 10_000);
});

test('a skill that people wrote or changed is theirs', () => {
  const skill = (body: string) => `---\nname: x\ndescription: d\nmetadata:\n  repo: ${repo}\n---\n${body}\n`;
  const path = 'memories/skills/x/SKILL.md';
  const before = new Map([[path, skill('one')]]);
  const added = (after: ReadonlyMap<string, string>) => personsChanges(before, after, repo).added;
  assert.deepEqual(added(new Map([[path, skill('two')]])), [{ hash: lineHash(path), text: path, evidence: [] }]);
  assert.deepEqual(added(before), []);
});
