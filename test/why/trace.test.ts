import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { loadStateRef, stateRef } from '../../scripts/state/ref.ts';
import { type CommitFacts, factsOf } from '../../scripts/why/maker.ts';
import { findLine } from '../../scripts/why/question.ts';
import { noRecords, recordsOf } from '../../scripts/why/records.ts';
import { traceBack, type Wording } from '../../scripts/why/trace.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { aLineHistory, handbookOf, type LineHistory, runId, shop } from '../support/line-histories.ts';
import { env, git, temporaryFolder } from '../support/repository.ts';

const npm = 'Tests are run with `npm test` [k3f7x2ab@12]';
const pnpm = 'Tests are run with `pnpm test`, all of them [k3f7x2ab@12] [q2w3e4r5@7]';
const cache = 'The cache lives in `.turbo` [k3f7x2ab@20]';
const port = 'The server listens on port 4000 [k3f7x2ab@33]';

test('a line is the commit’s that first held it, not the last one that touched its file', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm]);
  await history.run('b', [npm, cache]);
  await history.person('dana', [npm, cache, port]);
  assert.deepEqual(await told(history, 'npm test'), [`added by run a in ${first}`]);
  assert.match((await told(history, 'The cache lives'))[0] ?? '', /^added by run b in /);
  assert.match((await told(history, 'port 4000'))[0] ?? '', /^added by dana in /);
});

test('through a merge the line is the run’s on the branch, and the pull request is the merge’s', async (t) => {
  const history = await aLineHistory(t);
  await history.person('dana', [cache]);
  await history.on('memory/nightly');
  const tip = await history.run('a', [npm, cache]);
  await history.on('main');
  await history.bring('merge', tip, 'Merge pull request #7 from acme/memory/nightly');
  await history.person('dana', [npm, cache, port]);
  const { origin } = await newest(history, 'npm test');
  assert.deepEqual([makerOf(origin), origin.commit.oid], ['run a', tip]);
  assert.deepEqual(origin.pullRequest, { number: 7, url: null, from: 'merge' });
  assert.deepEqual(
    origin.via.map(({ kind }) => kind),
    ['merge'],
  );
  const own = await newest(history, 'The cache lives');
  assert.deepEqual([makerOf(own.origin), own.origin.via, own.origin.pullRequest], ['dana', [], null]);
});

test('through a squash the line is the run’s whose recorded commit it copies, and who squashed is named', async (t) => {
  const history = await aLineHistory(t);
  await history.person('dana', [cache]);
  await history.on('memory/nightly');
  const url = 'https://git.example.test/acme/memory/pull/12';
  const tip = await history.run('a', [npm, cache], { number: 12, url });
  const last = await history.run('b', [npm, cache, port], { number: 12, url });
  await history.on('main');
  await history.bring('squash', last, 'Memory: 2 lines learned (#12)');
  const { origin } = await newest(history, 'npm test');
  assert.deepEqual([makerOf(origin), origin.commit.oid], ['run a', tip]);
  assert.deepEqual(origin.pullRequest, { number: 12, url, from: 'squash' });
  assert.deepEqual(
    origin.via.map(({ kind, commit }) => [kind, commit.author.name]),
    [['squash', 'merger']],
  );
  assert.equal(makerOf((await newest(history, 'port 4000')).origin), 'run b');
});

test('what a person rewords in the branch before the squash is theirs, and the run’s words are the earlier ones', async (t) => {
  const history = await aLineHistory(t);
  await history.person('dana', [cache]);
  await history.on('memory/nightly');
  const tip = await history.run('a', [npm, cache]);
  const reworded = await history.person('erin', [pnpm, cache]);
  await history.on('main');
  const squash = await history.bring('squash', reworded, 'Memory (#12)');
  assert.deepEqual(await told(history, 'pnpm test'), [`corrected by merger in ${squash}`, `added by run a in ${tip}`]);
});

test('through a rebase the line is the run’s whose recorded commit it copies', async (t) => {
  const history = await aLineHistory(t);
  await history.person('dana', [cache]);
  await history.on('memory/nightly');
  const tip = await history.run('a', [npm, cache]);
  await history.on('main');
  await history.person('dana', [cache], 'Main goes on');
  await history.bring('rebase', tip);
  const { origin } = await newest(history, 'npm test');
  assert.deepEqual([makerOf(origin), origin.commit.oid], ['run a', tip]);
});

test('a block that moves or gets another title keeps the origin of its lines', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', handbookOf([npm, cache], { title: 'Builds' }));
  await history.person(
    'dana',
    `${handbookOf([port], { title: 'Servers' })}\n${handbookOf([cache, npm], { title: 'Tests' })}`,
  );
  assert.deepEqual(await told(history, 'npm test'), [`added by run a in ${first}`]);
});

test('a line is followed through rewordings by people and by runs, with when each wording held', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm, cache]);
  const second = await history.person('dana', ['Tests are run with `npm test` or `npm t` [k3f7x2ab@12]', cache]);
  const third = await history.run('b', [pnpm, cache]);
  const wordings = await trace(history, 'pnpm test');
  assert.deepEqual(
    wordings.map(({ how, since, until }) => [how, since.oid, until?.commit.oid ?? null, until?.how ?? null]),
    [
      ['corrected', third, null, null],
      ['reworded', second, third, 'corrected'],
      ['added', first, second, 'reworded'],
    ],
  );
  assert.deepEqual(await makers(history, 'pnpm test'), ['run b', 'dana', 'run a']);
});

test('a line that a person brings back is theirs, and its first life says until when and by whom it was ended', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm, cache]);
  const removed = await history.person('dana', [cache]);
  await history.run('b', [cache, port]);
  const again = await history.person('erin', [cache, port, npm]);
  const wordings = await trace(history, 'npm test');
  assert.deepEqual(
    wordings.map(({ how, since, until }) => [how, since.oid, until?.commit.oid ?? null, until?.how ?? null]),
    [
      ['restored', again, null, null],
      ['added', first, removed, 'removed'],
    ],
  );
  assert.deepEqual(await makers(history, 'npm test'), ['erin', 'run a']);
});

test('a line that is brought back after its pull request was squashed is not the run’s again', async (t) => {
  const history = await aLineHistory(t);
  await history.person('dana', [cache]);
  await history.on('memory/nightly');
  const tip = await history.run('a', [npm, cache]);
  await history.on('main');
  await history.bring('squash', tip, 'Memory (#12)');
  await history.person('dana', [cache]);
  await history.person('erin', [cache, npm]);
  assert.deepEqual(await makers(history, 'npm test'), ['erin', 'run a']);
});

test('a correction names the line that it superseded, by shared evidence or by its words', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [cache, port, 'Deploys go through Jenkins, never by hand [k3f7x2ab@40]']);
  await history.run('b', [
    'Since 2.0 builds keep nothing at all between runs [k3f7x2ab@20] [q2w3e4r5@9]',
    port,
    'Deploys go through GitHub Actions, never through Jenkins [q2w3e4r5@15]',
  ]);
  assert.deepEqual(
    (await trace(history, 'builds keep nothing'))[0]?.supersedes.map(({ raw }) => raw),
    [`- ${cache}`],
  );
  assert.deepEqual(
    (await trace(history, 'GitHub Actions'))[0]?.supersedes.map(({ raw }) => raw),
    ['- Deploys go through Jenkins, never by hand [k3f7x2ab@40]'],
  );
});

test('a trailer alone makes no run: a person who writes one stays the author, and the claim is shown', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [npm]);
  await history.person('mallory', [npm, cache], `memory: learned in ${shop}\n\nMemory-Run: ${runId('a')}`);
  const { origin } = await newest(history, 'The cache lives');
  assert.deepEqual(origin.maker, { kind: 'person', claims: runId('a') });
  assert.equal(origin.run, null);
});

test('where no record is here a trailer is believed if the ledger knows the run, and only then', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [npm]);
  await history.person('mallory', [npm, cache], `memory\n\nMemory-Run: ${runId('f')}`);
  const facts = async (text: string) => {
    const [wording] = await trace(history, text, noRecords);
    assert.ok(wording);
    return factsOf(wording.since, wording.via, { ...history, records: noRecords });
  };
  assert.deepEqual((await facts('npm test')).maker, { kind: 'run', runId: runId('a'), by: 'trailer' });
  assert.equal((await facts('npm test')).run?.models, 'some-model');
  assert.deepEqual((await facts('The cache lives')).maker, { kind: 'person', claims: runId('f') });
});

test('where the clone is shallow the origin is unknown, not the oldest commit’s author', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [npm]);
  await history.person('dana', [npm, cache]);
  await history.person('dana', [npm, cache, port]);
  const dir = temporaryFolder(t);
  git(dir, 'clone', '--quiet', '--depth=2', `file://${history.dir}`, 'clone');
  const repository = await openRepository(join(dir, 'clone'), { env });
  const head = async () => git(join(dir, 'clone'), 'rev-parse', 'HEAD');
  const shallow = { ...history, repository, head };
  assert.equal((await trace(shallow, 'npm test', noRecords))[0]?.how, 'unknown');
  assert.equal((await trace(shallow, 'port 4000', noRecords))[0]?.how, 'added');
});

test('line ends of Windows and Chinese words change nothing', async (t) => {
  const history = await aLineHistory(t);
  const chinese = '测试用 `npm test` 运行，不要跳过 [k3f7x2ab@12]';
  const first = await history.run('a', handbookOf([chinese, cache]));
  await history.person('dana', handbookOf([chinese, cache]).replaceAll('\n', '\r\n'));
  const third = await history.run('b', handbookOf(['测试用 `npm test` 运行，任何时候都不要跳过 [k3f7x2ab@12]', cache]));
  assert.deepEqual(await told(history, '任何时候都不要跳过'), [
    `reworded by run b in ${third}`,
    `added by run a in ${first}`,
  ]);
});

async function recordsIn({ repository }: Pick<LineHistory, 'repository'>) {
  const loaded = await loadStateRef(repository, stateRef);
  return loaded === null ? noRecords : recordsOf(repository, loaded.oid);
}

async function trace(history: LineHistory, text: string, given?: typeof noRecords): Promise<Wording[]> {
  const { repository } = history;
  const head = await history.head();
  const found = findLine({ kind: 'text', text }, await repository.readFiles(head, [handbookPath]));
  assert.equal(found.outcome, 'one', text);
  if (found.outcome !== 'one') throw new Error(text);
  return traceBack(repository, found.line, head, given ?? (await recordsIn(history)), { whole: true });
}

async function facts(history: LineHistory, text: string): Promise<(Wording & { readonly origin: CommitFacts })[]> {
  const records = await recordsIn(history);
  const wordings = await trace(history, text);
  const all = [];
  for (const wording of wordings)
    all.push({ ...wording, origin: await factsOf(wording.since, wording.via, { ...history, records }) });
  return all;
}

async function newest(history: LineHistory, text: string) {
  const [first] = await facts(history, text);
  assert.ok(first);
  return first;
}

async function makers(history: LineHistory, text: string): Promise<string[]> {
  return (await facts(history, text)).map(({ origin }) => makerOf(origin));
}

async function told(history: LineHistory, text: string): Promise<string[]> {
  return (await facts(history, text)).map(({ how, origin }) => `${how} by ${makerOf(origin)} in ${origin.commit.oid}`);
}

function makerOf({ maker, commit }: CommitFacts): string {
  return maker.kind === 'run' ? `run ${maker.runId[0]}` : commit.author.name;
}
