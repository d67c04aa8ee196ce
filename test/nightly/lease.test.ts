import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { GitPushError } from '../../scripts/git/remote-errors.ts';
import {
  continueLease,
  findOwnLease,
  type Lease,
  LeaseLostError,
  type LeaseOutcome,
  type LeasePorts,
  type LeaseTerms,
  proveHeld,
  takeLease,
} from '../../scripts/nightly/lease.ts';
import { leaseRefs } from '../../scripts/nightly/lease-record.ts';
import { aGitServer, type GitServer } from '../support/git-server.ts';
import { env, git, temporaryFolder } from '../support/repository.ts';

const token = ['ghs', 'a', 'worker'].join('_');
const [first, second] = leaseRefs;

interface Place {
  readonly server: GitServer;
  readonly dir: string;
  /** Seconds. */
  now: number;
  /** What the host says of runs. */
  readonly ended: Map<string, boolean>;
  /** Seconds that were waited. */
  readonly waited: number[];
  /** Done while somebody waits. */
  meanwhile: () => Promise<unknown>;
  worker(name: string, more?: Partial<LeaseTerms>): Promise<{ terms: LeaseTerms; ports: LeasePorts }>;
  tips(): string[];
}

async function aPlace(t: TestContext): Promise<Place> {
  const server = await aGitServer(t, { tokens: { [token]: { write: true } } });
  const dir = server.create('acme/memory');
  const place: Place = {
    server,
    dir,
    now: 1_000_000,
    ended: new Map(),
    waited: [],
    meanwhile: async () => undefined,
    worker: async (name, more = {}) => {
      const clone = temporaryFolder(t);
      git(clone, 'init', '--quiet');
      const repository = await openRepository(clone, { env });
      const remote = await openRemote(repository, { url: server.url('acme/memory'), token, env });
      const author = { name: 'bot', email: 'bot@example.test' };
      const terms = {
        worker: name,
        token: `token of ${name}`,
        run: null,
        leaseSeconds: 600,
        watchSeconds: 200,
        author,
      };
      const wait = async (seconds: number) => {
        place.waited.push(seconds);
        await place.meanwhile();
      };
      const hasEnded = async (run: string) => place.ended.get(run) ?? null;
      return {
        terms: { ...terms, ...more },
        ports: { repository, remote, clock: { now: () => place.now }, wait, hasEnded },
      };
    },
    tips: () => git(dir, 'for-each-ref', '--format=%(refname)').split('\n').filter(Boolean),
  };
  return place;
}

function taken(outcome: LeaseOutcome): Lease {
  return outcome.outcome === 'taken' ? outcome.lease : assert.fail(`held by ${outcome.by.worker}`);
}

function holder(outcome: LeaseOutcome): string {
  return outcome.outcome === 'held' ? outcome.by.worker : assert.fail('taken');
}

test('of four that ask at once one gets the lease, and the others learn who', async (t) => {
  const place = await aPlace(t);
  const workers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => place.worker(name)));
  const outcomes = await Promise.all(workers.map(({ terms, ports }) => takeLease(terms, ports)));
  const winners = workers.filter((_, at) => outcomes[at]?.outcome === 'taken').map(({ terms }) => terms.worker);
  assert.equal(winners.length, 1);
  for (const outcome of outcomes) if (outcome.outcome === 'held') assert.deepEqual([holder(outcome)], winners);
});

test('a lease is a commit without files and parents, and gone once it is released', async (t) => {
  const place = await aPlace(t);
  const { terms, ports } = await place.worker('a');
  const lease = taken(await takeLease(terms, ports));
  assert.equal(git(place.dir, 'ls-tree', first), '');
  assert.equal(git(place.dir, 'rev-list', '--count', first), '1');
  await lease.prove();
  await lease.renew();
  assert.equal(git(place.dir, 'rev-list', '--count', first), '1');
  await lease.release();
  assert.deepEqual(place.tips(), []);
  const other = await place.worker('b');
  taken(await takeLease(other.terms, other.ports));
});

test('a lease that has run out is watched before it is taken over; one that moves meanwhile is alive', async (t) => {
  const place = await aPlace(t);
  const [a, b] = [await place.worker('a'), await place.worker('b')];
  const lease = taken(await takeLease(a.terms, a.ports));
  place.now += 599;
  assert.equal(holder(await takeLease(b.terms, b.ports)), 'a');
  assert.deepEqual(place.waited, []);
  await lease.renew();
  place.now += 600;
  place.meanwhile = async () => {
    place.now -= 300;
    await lease.renew();
  };
  assert.equal(holder(await takeLease(b.terms, b.ports)), 'a');
  place.now += 601;
  place.meanwhile = async () => undefined;
  taken(await takeLease(b.terms, b.ports));
  assert.deepEqual(place.waited, [200, 200]);
  for (const use of [lease.prove, lease.renew]) await assert.rejects(use(), LeaseLostError);
  await lease.release();
  assert.deepEqual(place.tips(), [first], 'it is another’s now');
});

test('a lease that ran out proves nothing, though nobody took it', async (t) => {
  const place = await aPlace(t);
  const { terms, ports } = await place.worker('a');
  const lease = taken(await takeLease(terms, ports));
  place.now += 600;
  await assert.rejects(lease.prove(), LeaseLostError);
});

test('the host’s word that a run has ended frees its lease at once, and only that', async (t) => {
  const place = await aPlace(t);
  const [a, b] = [await place.worker('a', { run: '7/1' }), await place.worker('b', { run: '8/1' })];
  taken(await takeLease(a.terms, a.ports));
  for (const said of [null, false]) {
    if (said !== null) place.ended.set('7/1', said);
    assert.equal(holder(await takeLease(b.terms, b.ports)), 'a');
  }
  place.ended.set('7/1', true);
  taken(await takeLease(b.terms, b.ports));
  assert.deepEqual(place.waited, []);
});

test('the next job of a run goes on under its lease, and whoever may only read proves that it lasts', async (t) => {
  const place = await aPlace(t);
  const [a, later, other] = [
    await place.worker('claim', { run: '7/1' }),
    await place.worker('propose', { run: '7/1' }),
    await place.worker('else', { run: '8/1' }),
  ];
  const lease = taken(await takeLease(a.terms, a.ports));
  const held = { ref: lease.ref, oid: lease.oid() };
  await proveHeld(held, place.now + 600, later.ports);
  await assert.rejects(proveHeld(held, place.now + 601, later.ports), LeaseLostError);
  assert.equal(await findOwnLease({ run: '8/1', token: a.terms.token }, other.ports), null);
  assert.equal(await findOwnLease({ run: null, token: 'another' }, other.ports), null);
  const own = await findOwnLease({ run: '7/1', token: null }, later.ports);
  const continued = continueLease(own ?? assert.fail('not found'), later.terms, later.ports);
  await continued.renew();
  await assert.rejects(proveHeld(held, place.now, later.ports), LeaseLostError);
  await continued.release();
  await assert.rejects(proveHeld(held, place.now, later.ports), LeaseLostError);
  assert.deepEqual(place.tips(), []);
});

test('a host that takes branches only keeps the lease in one, and it keeps others away all the same', async (t) => {
  const place = await aPlace(t);
  place.server.refuse('acme/memory', 'refs/memory/*', 'only branches and tags');
  const [a, b] = [await place.worker('a'), await place.worker('b')];
  const lease = taken(await takeLease(a.terms, a.ports));
  assert.deepEqual([lease.ref, place.tips()], [second, [second]]);
  await lease.prove();
  await lease.renew();
  assert.equal(holder(await takeLease(b.terms, b.ports)), 'a');
  place.server.refuse('acme/memory', '', '');
  assert.equal(holder(await takeLease(b.terms, b.ports)), 'a', 'another token sees it too');
  await lease.release();
  assert.equal(taken(await takeLease(b.terms, b.ports)).ref, first, 'asked anew each time');
});

test('who took one ref while another took the other lets go', async (t) => {
  const place = await aPlace(t);
  const [a, b] = [await place.worker('a'), await place.worker('b')];
  const push: LeasePorts['remote']['push'] = async (updates, signal) => {
    place.server.refuse('acme/memory', 'refs/memory/*', 'only branches and tags');
    if (updates[0]?.ref === first) {
      place.server.refuse('acme/memory', '', '');
      taken(await takeLease(b.terms, b.ports));
      place.server.refuse('acme/memory', 'refs/memory/*', 'only branches and tags');
    }
    await a.ports.remote.push(updates, signal);
  };
  const outcome = await takeLease(a.terms, { ...a.ports, remote: { ...a.ports.remote, push } });
  assert.equal(holder(outcome), 'b');
  assert.deepEqual(place.tips(), [first]);
});

test('a host that refuses both says so', async (t) => {
  const place = await aPlace(t);
  place.server.refuse('acme/memory', 'refs/*', 'read only');
  const { terms, ports } = await place.worker('a');
  await assert.rejects(takeLease(terms, ports), GitPushError);
});

test('what nobody could have written counts as run out', async (t) => {
  const place = await aPlace(t);
  const tree = git(place.dir, 'mktree', '--missing');
  for (const message of ['', 'x', '[]', '{"worker":1}', '{"worker":"w","token":"t","leaseUntil":"never"}']) {
    const commit = git(place.dir, 'commit-tree', tree, '-m', message || 'empty');
    git(place.dir, 'update-ref', first, commit);
    const { terms, ports } = await place.worker('a');
    await taken(await takeLease(terms, ports)).release();
  }
});
