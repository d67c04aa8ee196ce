import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHandbook } from '../../scripts/workspace/handbook.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { repair } from '../../scripts/workspace/repair.ts';
import { violations } from '../../scripts/workspace/rules.ts';
import { a, aBlock, aContext, aReference, aWorkspace, b, first, foreign, otherRepo, second } from './samples.ts';

/** Repairs twice: mending what is mended must change nothing. */
function repaired(handbook: string, threads = [first], context = aContext()): string {
  const files = repair(aWorkspace(handbook, threads), context);
  assert.deepEqual(repair(files, context), files);
  return files.get(handbookPath) ?? '';
}

test('a clean block comes back byte for byte', () => {
  assert.equal(repaired(aBlock()), aBlock());
  const two = `${aBlock()}\n${aBlock({ title: 'Two' })}`;
  assert.equal(repaired(two), two);
});

test('markers, numbers, white space, line ends and invisible characters are mended', () => {
  const broken = aBlock()
    .replace('- the tests', '*  the te\u200bsts')
    .replace('## Task 1:', '## Task 7:')
    .replace('- build, tests', '+ build, tests   ')
    .replace(/\n/g, '\r\n')
    .trimEnd();
  assert.equal(repaired(broken), aBlock().replace('- the', '-  the'));
});

test('what stands in a code fence is left alone', () => {
  const block = aBlock({ knowledge: ['- run', '  ```', '* not a bullet   ', '  ```', `  [${a}@3]`] });
  assert.ok(repaired(block).includes('* not a bullet   \n'));
});

test('a code fence left open is closed at the end of its block', () => {
  const open = aBlock({ failures: [`- one [${a}@3]`, '  ~~~~sh', '  make'] });
  assert.equal(repaired(`${open}\n${aBlock({ title: 'Next' })}`), `${open}  ~~~~\n\n${aBlock({ title: 'Next' })}`);
});

test('a reference is completed from its summary, and its note stays', () => {
  const short = aReference(first).replace(/\(.*\)/, '(cwd=wrong, the retry)');
  const text = repaired(aBlock().replace(aReference(first), short));
  assert.ok(text.includes(aReference(first).replace(')', ', the retry)')));
  assert.deepEqual(violations(aWorkspace(text, [first]), aContext()), []);
});

test('a reference to a summary that is gone is removed, with the task that rested on it alone', () => {
  const two = aBlock().replace(
    '## User preferences',
    `## Task 2: Again, fail\n### rollout_summary_files\n${aReference(second)}\n### keywords\n- again\n\n## User preferences`,
  );
  assert.equal(repaired(two, [first]), aBlock());
  const other = repaired(two, [second]);
  assert.ok(other.includes('## Task 1: Again, fail') && !other.includes('Task 2'));
});

test('a block that lost its task but still rests on a session is given that session’s task', () => {
  const shared = aBlock({
    preferences: [],
    knowledge: [`- the tests need port 5432 [${a}@4] [${b}@4]`],
    failures: [],
  });
  const text = repaired(shared, [second]);
  assert.ok(text.includes(`## Task 1: Fixed the build, success\n### rollout_summary_files\n${aReference(second)}\n`));
  assert.deepEqual(violations(aWorkspace(text, [second]), aContext()), []);
});

test('a block whose sessions are gone keeps what persons said or wrote', () => {
  const block = aBlock({
    preferences: [`- a person said so [${a}@1]`],
    knowledge: [`- a tool showed [${a}@2]`, '  over two lines', '- Kim’s own'],
    failures: [`- still living [${b}@2]`],
  });
  const text = repaired(block, [second], aContext({ persons: ['- Kim’s own'] }));
  const kept = parseHandbook(text).blocks[0];
  assert.deepEqual(
    [...(kept?.preferences ?? []), ...(kept?.knowledge ?? []), ...(kept?.failures ?? [])].map((bullet) => bullet.text),
    ['a person said so', 'Kim’s own', 'still living'],
  );
});

test('a block that rested on gone sessions alone disappears', () => {
  const block = aBlock({ preferences: [], knowledge: [`- a tool showed [${a}@2]`], failures: [] });
  assert.equal(repaired(block, []), '');
});

test('a summary that no block names is filed under Unfiled, and leaves it when a block names it', () => {
  const text = repaired(aBlock(), [first, second]);
  const unfiled = parseHandbook(text).blocks[1];
  assert.equal(unfiled?.title, 'Unfiled');
  assert.deepEqual(unfiled?.tasks[0]?.keywords, ['build', 'tests']);
  assert.equal(unfiled?.tasks[0]?.title, 'Fixed the build, success');
  assert.deepEqual(violations(aWorkspace(text), aContext()), []);
  const filed = text.replace(aReference(first), `${aReference(first)}\n${aReference(second)}`);
  assert.ok(!repaired(filed, [first, second]).includes('Unfiled'));
});

test('Unfiled is made anew, but keeps the bullets that somebody put there', () => {
  const text = repaired(aBlock(), [first, second]);
  const noted = `${text}\n## Reusable knowledge\n- Kim’s own\n`;
  const persons = ['- Kim’s own'];
  assert.equal(repaired(noted, [first, second], aContext({ persons })), noted);
  const left = repaired(noted, [first], aContext({ persons }));
  assert.ok(left.includes('# Task Group: Unfiled') && left.includes('- Kim’s own') && !left.includes('## Task 2'));
});

test('in the whole tree each scope has its own Unfiled, and a person’s section stays', () => {
  const files = repair(aWorkspace('# Our notes\n* as they are  \n', [first, foreign]), { ...aContext(), scope: null });
  const text = files.get(handbookPath) ?? '';
  assert.ok(text.startsWith('# Our notes\n* as they are  \n'));
  assert.deepEqual(
    parseHandbook(text).blocks.map((block) => block.appliesTo.repo),
    ['', otherRepo, aContext().scope],
  );
});

test('* gets no Unfiled and keeps references that its projection cannot see', () => {
  const block = aBlock({ repo: '*' });
  assert.equal(repaired(block, [], aContext({ scope: '*' })), block);
});

test('skills and the summary are tidied, generated files are not', () => {
  const files = aWorkspace(aBlock(), [first]);
  files.set('memories/skills/x/SKILL.md', '---\r\nname: x  \r\n---\r\nbody\u200b');
  const next = repair(files, aContext());
  assert.equal(next.get('memories/skills/x/SKILL.md'), '---\nname: x\n---\nbody\n');
  for (const [path, text] of files)
    if (path.includes('raw') || path.includes('rollout')) assert.equal(next.get(path), text);
});

test('a line that another supersedes goes, with its section where it was the last; a person’s stays', () => {
  const newer = aBlock({
    failures: [`- port 4000 (supersedes ${a}@2) [${b}@4]`],
    knowledge: [`- port 3000 [${a}@2]`, '  or so'],
  });
  const older = aBlock({
    title: 'Older',
    preferences: [],
    failures: [],
    knowledge: [`- also 3000 [${a}@2]`, `- kept [${a}@4]`],
  });
  const handbook = `${newer}\n${older}`;
  const text = repaired(handbook);
  assert.ok(
    !text.includes('3000') && !text.includes('or so') && text.includes('- kept') && text.includes('supersedes'),
  );
  assert.equal(text.match(/## Reusable knowledge/g)?.length, 1);
  assert.deepEqual(violations(aWorkspace(text), aContext()), []);
  const persons = repaired(handbook, [first], aContext({ persons: ['- also 3000'] }));
  assert.ok(persons.includes('also 3000') && !persons.includes('port 3000'));
});
