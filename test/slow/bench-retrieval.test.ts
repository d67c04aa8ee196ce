import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseQuestions, type Retrieval, scoreOf } from '../../scripts/bench/retrieval.ts';
import { UsageError } from '../../scripts/shared/errors.ts';
import { aFix, codexText } from '../support/codex-session.ts';
import { command } from '../support/nights.ts';
import { temporaryFolder, writeFiles } from '../support/repository.ts';

test('a score tells how often the answer came first, among five, and how far down', () => {
  const asked = ['a', 'b', 'c', 'd'].map((answer) => ({ ask: answer, answer }));
  const results: Record<string, string[]> = { a: ['a'], b: ['x', 'the b '], c: ['1', '2', '3', '4', '5', 'c'], d: [] };
  assert.deepEqual(
    scoreOf(asked, 7, ({ ask }) => results[ask] ?? []),
    { hitAt1: 0.25, hitAt5: 0.5, mrr: (1 + 1 / 2 + 1 / 6) / 4, bytes: 7 },
  );
});

test('an answer is found across line ends', () => {
  assert.equal(scoreOf([{ ask: 'q', answer: 'two words' }], 0, () => ['two\n  words']).hitAt1, 1);
});

for (const [what, text, says] of [
  ['no question at all', '\n', /holds no question/],
  ['a line that is no JSON', '{"ask":"a","answer":"b"}\nnope\n', /line 2: no question/],
  ['a question without an answer', '{"ask":"a"}\n', /line 1/],
  ['a blank answer', '{"ask":"a","answer":" "}\n', /line 1/],
] as const) {
  test(`${what} is refused by its line`, () => {
    assert.throws(
      () => parseQuestions(text, 'q.jsonl'),
      (error: unknown) => error instanceof UsageError && says.test(error.message),
    );
  });
}

test('the command plays a night over a corpus and asks its memory and the transcripts', async (t) => {
  const dir = temporaryFolder(t);
  const sessions = [
    aFix(1),
    aFix(2, [{ human: 'No, lib/module_2.py must stay free of numpy.' }, { edit: ['lib/module_2.py'] }]),
  ];
  writeFiles(dir, {
    'questions.jsonl': `${JSON.stringify({ ask: 'may the second module use numpy?', answer: 'must stay free of numpy' })}\n`,
    ...Object.fromEntries(sessions.map((one) => [`corpus/codex-laptop/rollout-${one.id}.jsonl`, codexText(one)])),
  });
  const args = ['retrieval', '--corpus', join(dir, 'corpus'), '--questions', join(dir, 'questions.jsonl')];
  const { code, stdout, stderr } = await command('bench', [...args, '--json']);
  assert.equal(code, 0, stderr);
  const { questions, memory, transcripts } = JSON.parse(stdout) as Retrieval;
  assert.equal(questions, 1);
  assert.deepEqual([memory.hitAt1, transcripts.hitAt5], [1, 1]);
  assert.ok(memory.bytes > 0 && transcripts.bytes > 0);
});

test('without a corpus, or with one that holds no agent’s folder, it says what to name', async (t) => {
  const dir = temporaryFolder(t);
  writeFiles(dir, { 'questions.jsonl': '{"ask":"a","answer":"b"}\n', 'corpus/x/y.jsonl': '' });
  const [none, wrong] = await Promise.all([
    command('bench', ['retrieval', '--questions', join(dir, 'questions.jsonl')]),
    command('bench', ['retrieval', '--corpus', join(dir, 'corpus'), '--questions', join(dir, 'questions.jsonl')]),
  ]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /--corpus and --questions together/);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /holds no sessions[\s\S]*codex, claude-code/);
});
