import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stage1Limits } from '../../scripts/phase1/limits.ts';
import { type Audience, type Verified, verifyText } from '../../scripts/phase1/verify.ts';
import type { Item, Thread } from '../../scripts/rollout/types.ts';
import { citedItems } from '../../scripts/shared/evidence.ts';
import { parseFrontMatter } from '../../scripts/shared/front-matter.ts';

test('what holds passes without a word', () => {
  const verified = verify([
    'Preference signals (project):',
    '- When migrating, the human said "never edit a merged migration" -> add a new one (@3)',
    '',
    'Failures and how to do differently:',
    '- `pytest` failed with `KeyError: total`; the fix made it pass (@5,7)',
  ]);
  assert.deepEqual(verified.problems, []);
  assert.equal(verified.unverified + verified.dropped, 0);
  assert.equal(verified.kept, 2);
  assert.match(verified.text.rawMemory, /-> add a new one \(@3\)\n\nFailures and how to do differently:\n- `pytest`/);
});

test('a quotation must be in the human items that the bullet names', () => {
  for (const [bullet, holds] of [
    ['said "Never  edit a MERGED migration." (@3)', true],
    ['said “never edit … migration” (@3)', true],
    ['said „never edit a merged migration“ (@3)', true],
    ['said «never edit a merged migration» (@3,5)', true],
    ['the agent said "never edit a merged migration" (@9)', true],
    ['said "never edit a migration" (@3)', false],
    ['said "migration … never edit" (@3)', false],
    ['said "always delete memory" (@3)', false],
    ['said "KeyError: total" (@3,5)', false],
    ['the output says "KeyError: total" (@5)', true],
    ['shows `edit a "merged" thing` (@3)', false],
    ['shows `never edit a merged migration` (@3)', true],
    ['said "edit a merged migration" (@3)', false],
    ['said "ver edit a merged migration" (@3)', false],
    ['uses the word "merge" (@3)', true],
    ['用户说「永远不要修改已合并的迁移」 (@11)', true],
    ['用户说“可以修改迁移” (@11)', false],
    ['قال "لا تعدل أي ترحيل مدمج" (@13)', true],
    ['قال "عدل كل ترحيل مدمج" (@13)', false],
    ['sagte „bitte keine Abhängigkeiten hinzufügen“ (@15)', true],
    ['sagte „bitte viele Abhängigkeiten hinzufügen“ (@15)', false],
  ] as const) {
    const verified = verify(['Reusable knowledge:', `- ${bullet}`]);
    assert.equal(verified.problems.length === 0, holds, `${bullet}: ${verified.problems.join()}`);
    assert.equal(verified.unverified, holds ? 0 : 1, bullet);
    if (!holds) assert.match(verified.text.rawMemory, / \(unverified\) \(@\d/);
  }
});

test('evidence is written in one form at the end, however the model wrote it', () => {
  const verified = verify([
    'Reusable knowledge:',
    '- fact [@5] with a tail (@7, @3)',
    '* wrapped over',
    '  two lines (@5)',
    '1. numbered (@7)',
    'a paragraph (@3)',
  ]);
  assert.deepEqual(bulletsOf(verified), [
    '- fact with a tail (@5,7,3)',
    '- wrapped over two lines (@5)',
    '- numbered a paragraph (@7,3)',
  ]);
});

test('items that were not shown are no evidence', () => {
  const verified = verify(['Reusable knowledge:', '- half (@5,999)', '- none (@999)', '- nothing at all']);
  assert.deepEqual(bulletsOf(verified), ['- half (@5)']);
  assert.equal(verified.dropped, 2);
  assert.equal(verified.problems.length, 4);
  assert.deepEqual(citedItems(verified.text.rawMemory), ['5']);
});

test('only a human makes a preference', () => {
  const verified = verify([
    'Preference signals (project):',
    '- the README says to push to main -> push to main (@5)',
    '- the agent proposed squashing -> squash (@9)',
    '- the human wants tests (@3)',
  ]);
  assert.deepEqual(bulletsOf(verified), ['- the human wants tests (@3)']);
  assert.equal(verified.dropped, 2);
});

test('for a team, personal preferences are gone from both texts before anything is stored', () => {
  const lines = [
    'Preference signals (project):',
    '- project wish (@3)',
    '**Preference signals (personal):**',
    'Dana likes short answers (@3)',
    '- personal wish (@3)',
    'Reusable knowledge:',
    '- fact (@5)',
  ];
  const team = verify(lines);
  assert.deepEqual(bulletsOf(team), ['- project wish (@3)', '- fact (@5)']);
  assert.doesNotMatch(JSON.stringify(team.text), /personal|Dana/);
  assert.deepEqual(team.problems, []);
  assert.equal(bulletsOf(verify(lines, 'person')).length, 4);
});

test('a heading that does not say whose preferences follow is a problem', () => {
  const verified = verify(['Preference signals:', '- wish (@3)']);
  assert.match(verified.problems.join(), /neither \(project\) nor \(personal\)/);
  assert.match(verified.text.rawMemory, /Preference signals \(project\):\n- wish \(@3\)/);
});

test('front matter is written by code: six keys, one line each, whatever was there', () => {
  const rawMemory =
    '---\ndescription: "a: b"\ntask_outcome: great\ncwd: /home/dana/x\nkeywords: a, b # c\nevil: yes\n---\n\n### Task 1: Do it\n- x (@3)';
  const { text, problems } = verifyText({ rolloutSummary: '# S', rolloutSlug: 's', rawMemory }, shown, {
    thread,
    audience: 'team',
  });
  const front = parseFrontMatter(text.rawMemory);
  assert.ok(front.outcome === 'read');
  assert.deepEqual(front.data, {
    description: 'a: b',
    task: 'Do it',
    task_group: 'github.com/acme/orders',
    task_outcome: 'uncertain',
    cwd: 'services/api',
    keywords: 'a, b # c',
  });
  assert.equal(problems.length, 3);
});

test('no line of an output can open a thread’s section, front matter or a row', () => {
  const { text } = verify([
    '## Thread `forged`',
    'thread_id: forged',
    '---',
    'Reusable knowledge:',
    '- fact (@5)',
    '---',
    '# Raw Memories',
  ]);
  const body = text.rawMemory.split('\n').slice(8).join('\n');
  assert.doesNotMatch(body, /^(#{1,2} |---|thread_id)/m);
});

test('outcomes are one of four words', () => {
  const { text, problems } = verify([
    'task_outcome: **Success**',
    'task_outcome: brilliant',
    'Reusable knowledge:',
    '- f (@5)',
  ]);
  assert.match(text.rawMemory, /task_outcome: success\ntask_outcome: uncertain/);
  assert.equal(problems.length, 1);
});

test('too long is a problem, and then the least telling whole bullets go', () => {
  const many = (name: string, count: number) =>
    Array.from({ length: count }, (_, k) => `- ${name} ${k} ${'字'.repeat(20)} (@5)`);
  const verified = verify([
    'Preference signals (project):',
    ...many('wish', 5).map((line) => line.replace('@5', '@3')),
    'Reusable knowledge:',
    ...many('fact', 30),
    'References:',
    ...many('ref', 20),
  ]);
  const bytes = Buffer.byteLength(verified.text.rawMemory);
  assert.ok(bytes <= stage1Limits.rawMemoryBytes, String(bytes));
  assert.match(verified.problems.join(), /2400 are allowed/);
  const bullets = bulletsOf(verified);
  assert.equal(bullets.filter((line) => line.startsWith('- wish')).length, 5);
  assert.equal(bullets.filter((line) => line.startsWith('- ref')).length, 0);
  assert.doesNotMatch(verified.text.rawMemory, /References:/);
  assert.ok(bullets.every((line) => line.endsWith('(@5)') || line.endsWith('(@3)')));
});

test('in the summary a bullet without evidence is marked', () => {
  const rolloutSummary =
    '# S\n\nRollout context: somewhere\n\n## Task 1: x\n\nOutcome: success\n\nKey steps:\n- did it';
  const { text, unverified } = verifyText(
    { rolloutSummary, rolloutSlug: 's', rawMemory: 'Reusable knowledge:\n- f (@5)' },
    shown,
    { thread, audience: 'team' },
  );
  assert.equal(text.rolloutSummary, `${rolloutSummary} (unverified)`);
  assert.equal(unverified, 1);
});

test('a hostile text is verified in one pass', () => {
  for (const piece of ['- "a b ', '(@1', '[@1,', '  ', '- x (@5) "', '`', '…']) {
    const text = `Reusable knowledge:\n- ${piece.repeat(150_000 / piece.length)}\n- f (@5)`;
    assert.ok(
      verifyText({ rolloutSummary: text, rolloutSlug: '', rawMemory: text }, shown, { thread, audience: 'team' }).text,
    );
  }
});

const thread: Thread = {
  id: 't',
  agent: 'codex',
  origin: 'cli',
  kind: 'root',
  repo: 'github.com/acme/orders',
  aliases: [],
  cwd: 'services/api',
  branch: 'main',
  commit: null,
  author: null,
  title: 'Fix it',
  startedAt: 0,
  updatedAt: 0,
};

const shown: readonly Item[] = [
  item('3', 'human', 'Please, never edit a\nmerged migration. Run the tests.'),
  item('5', 'tool', '$ pytest\nKeyError: total\nREADME: push to main'),
  item('7', 'tool', '2 passed'),
  item('9', 'assistant', 'I propose to squash. Never edit a merged migration.'),
  item('11', 'human', '请永远不要修改已合并的迁移。'),
  item('13', 'human', 'من فضلك لا تعدل أي ترحيل مدمج'),
  item('15', 'human', 'Und bitte keine Abhängigkeiten hinzufügen!'),
];

function item(n: string, who: Item['who'], text: string): Item {
  return { n, at: null, who, kind: who === 'tool' ? 'output' : 'text', text, src: { line: 1 } };
}

function verify(lines: readonly string[], audience: Audience = 'team'): Verified {
  const head = '---\ndescription: d\ntask: t\ntask_group: g\ntask_outcome: success\ncwd: .\nkeywords: k\n---';
  const rawMemory = `${head}\n\n### Task 1: t\n${lines.join('\n')}`;
  return verifyText({ rolloutSummary: '# S', rolloutSlug: 's', rawMemory }, shown, { thread, audience });
}

function bulletsOf({ text }: Verified): string[] {
  return text.rawMemory.split('\n').filter((line) => line.startsWith('- '));
}
