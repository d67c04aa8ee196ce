import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Passage } from '../../scripts/recall/search/passage.ts';
import { passagesOf, withoutRepeats } from '../../scripts/recall/search/passages.ts';
import { createRanking } from '../../scripts/recall/search/ranking.ts';
import { parseYaml } from '../../scripts/shared/yaml.ts';
import { runsOf, someDistractors } from '../support/distractors.ts';
import { root } from '../support/nights.ts';
import { sampleMemory } from '../support/retrieval.ts';

interface Question {
  readonly ask: string;
  readonly answer: string;
}

const { value, errors } = parseYaml(readFileSync(join(root, 'test/fixtures/questions.yaml'), 'utf8'));
assert.deepEqual(errors, []);
const { questions } = value as { readonly questions: readonly Question[] };

const blocks = 2_000;
let answers: readonly Passage[];
let drawn: readonly string[];
/** Of each question, where its answer stands in what a ranked search of all repositories gives; 0: nowhere. */
let ranks: readonly number[];

before(async () => {
  const memory = await sampleMemory();
  const told = [...memory].flatMap(([path, text]) => passagesOf(path, text));
  answers = told.filter(({ body }) => questions.some(({ answer }) => body.includes(answer)));
  const [repository = '', ...others] = [...new Set(told.flatMap(({ scope }) => scope ?? []))];
  const distractors = someDistractors(
    blocks,
    answers.map(({ body }) => body),
    [repository, ...others],
  );
  drawn = distractors.lines;
  const handbook = `${memory.get('MEMORY.md')}\n${distractors.blocks.join('\n')}`;
  const files = [['MEMORY.md', handbook] as const, ...[...memory].filter(([path]) => path !== 'MEMORY.md')];
  const ranking = createRanking(withoutRepeats(files.flatMap(([path, text]) => passagesOf(path, text))));
  ranks = questions.map(
    ({ ask, answer }) => ranking.search(ask, null).shown.findIndex(({ passage }) => passage.body.includes(answer)) + 1,
  );
});

test('there are at least 30 questions, each with an answer in the memory, also in German and Chinese', () => {
  assert.ok(questions.length >= 30);
  const without = questions.filter(({ answer }) => !answers.some(({ body }) => body.includes(answer)));
  assert.deepEqual(without, []);
  assert.ok(
    questions.some(({ ask }) => /ß|[äöü]/.test(ask)) && questions.some(({ ask }) => /\p{Script=Han}/u.test(ask)),
  );
});

test('no question repeats three words of its answer', () => {
  const repeated = questions.filter(({ ask, answer }) => runsOf(ask).some((run) => runsOf(answer).includes(run)));
  assert.deepEqual(repeated, []);
});

test('no distractor has a run of three words of an answer', () => {
  assert.equal(drawn.length, blocks * 4);
  const runs = new Set(answers.flatMap(({ body }) => runsOf(body)));
  assert.deepEqual(
    drawn.filter((line) => runsOf(line).some((run) => runs.has(run))),
    [],
  );
});

test('of 2,000 blocks beside it, the answer is the first passage for 60 % of the questions', (t) => {
  const first = ranks.filter((rank) => rank === 1).length / ranks.length;
  t.diagnostic(`hit@1 ${first.toFixed(3)}`);
  assert.ok(first >= 0.6, `hit@1 is ${first}`);
});

test('it is among the first five for 90 %', (t) => {
  const among = ranks.filter((rank) => rank >= 1 && rank <= 5).length / ranks.length;
  const missed = questions.filter((_, index) => ranks[index] === 0 || (ranks[index] ?? 0) > 5).map(({ ask }) => ask);
  t.diagnostic(`hit@5 ${among.toFixed(3)}, missed: ${missed.join(' · ')}`);
  assert.ok(among >= 0.9, `hit@5 is ${among}: ${missed.join(', ')}`);
});
