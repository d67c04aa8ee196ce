import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { openState } from '../../scripts/state/snapshot.ts';
import { listTombstones } from '../../scripts/state/tombstones.ts';
import type { RecordedRequest } from '../support/api-types.ts';
import { api, type Behave, cwdOf, type Nights, shop, sound, startNights } from '../support/model-nights.ts';
import { commitAll } from '../support/repository.ts';
import { agentAnswer, handbook, scopeIn, turnOf, write } from '../support/scripted-agent.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId } from '../support/written-sessions.ts';

const first = {
  id: threadId(1),
  cwd: cwdOf[shop],
  at: '2026-11-28T10:00:00Z',
  happened: [
    { human: 'Fix the build' },
    { run: 'make', out: 'FACT the tests need port 5432' },
    { human: 'please use pnpm, not npm' },
    { human: 'ask before you push' },
    { run: 'make again', out: 'FACT the weird zebra cache breaks the first run' },
  ],
} as const;

const next = {
  id: threadId(2),
  cwd: cwdOf[shop],
  at: '2026-11-29T10:00:00Z',
  happened: [{ human: 'Deploy it' }, { run: 'make', out: 'FACT deploying takes two runs' }],
} as const;

const short = shortThreadId(first.id);
const pnpm = `- when working here: "please use pnpm, not npm" -> do so by default [${short}@5]`;
const zebra = `- the weird zebra cache breaks the first run [${short}@8]`;

async function afterInit(t: TestContext): Promise<Nights> {
  const nights = await startNights(t);
  nights.write(first);
  await nights.play({ at: '2026-11-29T03:00:00Z' });
  assert.ok(nights.file(handbook).includes(pnpm) && nights.file(handbook).includes(zebra), nights.file(handbook));
  return nights;
}

function edit(nights: Nights, change: (text: string) => string, path = handbook): void {
  const before = nights.file(path);
  const after = change(before);
  assert.notEqual(after, before);
  writeFileSync(join(nights.dir, path), after);
  commitAll(nights.dir, 'A person’s edit');
}

/** An agent that also does this to the handbook of the shop. */
function alsoDoes(change: (text: string) => string): Behave {
  return (request, index) => {
    if (isExtraction(request) || scopeIn(request) !== shop || turnOf(request) !== 1) return sound(request, index);
    const call = agentAnswer(request).calls?.[0];
    const text = (call?.arguments as { text?: string } | undefined)?.text ?? '';
    return { calls: [write(handbook, change(text))] };
  };
}

/** The lines of requests that hold the words. */
function said(requests: readonly RecordedRequest[], words: RegExp): string[] {
  const texts = requests.map(({ body }) => JSON.stringify(body).replaceAll('\\\\n', '\n').replaceAll('\\n', '\n'));
  return texts.flatMap((text) => text.split('\n').filter((line) => words.test(line)));
}

async function stateOf(nights: Nights) {
  return openState(`${nights.git('show', 'refs/memory/state:state.sqlite.json')}\n`);
}

const reworded = `- Use **pnpm** here; npm breaks the lock file [${short}@5]`.replace(/\*\*/g, '');
const own = '- Kim decides about Releases;  ask her';

test('what a person reworded and added stays byte for byte, whatever the agent makes of it', async (t) => {
  const nights = await afterInit(t);
  edit(nights, (text) => text.replace(pnpm, `${reworded}\n${own}`));
  nights.write(next);
  const { report, requests } = await nights.play({
    at: '2026-11-30T03:00:00Z',
    behave: alsoDoes((text) => text.replace(`${reworded}\n`, '').replace(own, '- kim decides about releases; ask her')),
  });
  assert.equal(report.outcome, 'done');
  assert.deepEqual(report.people, { added: 2, removed: 0 });
  assert.notDeepEqual(said(requests, /Kim decides about Releases/), [], 'the agent is shown what people changed');
  const lines = nights.file(handbook).split('\n');
  assert.ok(lines.includes(reworded) && lines.includes(own), nights.file(handbook));
  assert.ok(!lines.includes('- kim decides about releases; ask her') && !lines.includes(pnpm));
  assert.ok(nights.file(handbook).includes('deploying takes two runs'));

  nights.write({
    ...next,
    id: threadId(3),
    at: '2026-11-30T10:00:00Z',
    happened: [{ human: 'More' }, { run: 'x', out: 'FACT three' }],
  });
  await nights.play({
    at: '2026-12-01T03:00:00Z',
    behave: alsoDoes((text) => text.slice(text.indexOf('# Task Group: Deploy it'))),
  });
  const later = nights.file(handbook).split('\n');
  assert.ok(later.includes(reworded) && later.includes(own), 'even where their block was to go');
});

test('what a person removed is forgotten, and nobody is ever shown it again', async (t) => {
  const nights = await afterInit(t);
  edit(nights, (text) => text.replace(`${zebra}\n`, ''));
  nights.write(next, { ...first, happened: [...first.happened, { human: 'thanks, and now the docs' }] });
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.deepEqual(report.people, { added: 0, removed: 1 });
  assert.deepEqual(
    listTombstones(await stateOf(nights)).map(({ kind, key, reason }) => [kind, key, reason]),
    [['evidence', `${first.id} 8 ${shop}`, 'a person removed the line']],
  );
  assert.equal(requests.filter(isExtraction).length, 2, 'the session that grew is read again');
  assert.deepEqual(said(requests, /zebra/), []);
  for (const path of [handbook, 'memories/raw_memories.md', 'memories/memory_summary.md'])
    assert.doesNotMatch(nights.file(path), /zebra/, path);
  assert.match(nights.file(handbook), /port 5432[\s\S]*deploying takes two runs/);

  const { requests: later } = await nights.play({ at: '2026-12-01T03:00:00Z', wishes: { now: true } });
  assert.deepEqual(said(later, /zebra/), []);
});

test('a removal alone asks no model: code takes the words out of the inputs', async (t) => {
  const nights = await afterInit(t);
  edit(nights, (text) => text.replace(`${zebra}\n`, ''));
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.equal(requests.length, 0);
  assert.equal(report.outcome, 'done');
  assert.doesNotMatch(nights.file('memories/raw_memories.md'), /zebra/);
  assert.match(nights.file('memories/raw_memories.md'), /port 5432/);
  const quiet = await nights.play({ at: '2026-12-01T03:00:00Z' });
  assert.deepEqual([quiet.report.outcome, quiet.requests.length], ['quiet', 0]);
});

test('a removed preference reaches `*` no more either, not even as a deletion', async (t) => {
  const nights = await afterInit(t);
  edit(nights, (text) => text.replace(`${pnpm}\n`, ''));
  nights.write(next);
  const { requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.ok(requests.some((request) => scopeIn(request) === '*'));
  assert.deepEqual(said(requests, /pnpm/), []);
});

test('what a person took out of the blocks for every repository is not promoted again', async (t) => {
  const nights = await startNights(t);
  const other = { ...first, id: threadId(9), cwd: cwdOf[api] };
  const [mine, theirs] = [shortThreadId(first.id), shortThreadId(other.id)];
  const shared = `- use pnpm everywhere [${mine}@5] [${theirs}@5]`;
  const block = `# Task Group: Everywhere\nscope: all work\napplies_to: repo=*; cwd=any; reuse_rule=always\n\n## User preferences\n${shared}\n- ask before pushing [${mine}@6] [${theirs}@6]\n`;
  nights.write(first, other);
  const promoting: Behave = (request, index) => {
    if (isExtraction(request) || scopeIn(request) !== '*' || turnOf(request) !== 1) return sound(request, index);
    return { calls: [...(agentAnswer(request).calls ?? []), write(handbook, block, 'star')] };
  };
  await nights.play({ at: '2026-11-29T03:00:00Z', behave: promoting });
  assert.ok(nights.file(handbook).includes(shared));
  edit(nights, (text) => text.replace(`${shared}\n`, ''));
  nights.write(next);
  const { requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  const star = requests.filter((request) => scopeIn(request) === '*');
  assert.deepEqual(said(star, /pnpm/), []);
  assert.notDeepEqual(said(star, /ask before/), []);
  assert.ok(nights.file(handbook).includes(pnpm), 'in its repository the preference stands');
});

test('a revert of what was learned forgets it like a removal by hand', async (t) => {
  const nights = await afterInit(t);
  nights.git('revert', '--no-edit', 'HEAD');
  nights.write(next);
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.deepEqual(report.people, { added: 0, removed: 4 });
  assert.deepEqual(said(requests, /zebra|pnpm|5432|ask before/), []);
  const text = nights.file(handbook);
  assert.match(text, /deploying takes two runs/);
  assert.doesNotMatch(text, /zebra|pnpm|5432|ask before/);
});

test('a line that a person moved within the file is theirs where it stands, and nothing is forgotten', async (t) => {
  const nights = await afterInit(t);
  const moved = `\n# Task Group: Tools\nscope: tools\napplies_to: repo=${shop}; cwd=.; reuse_rule=here\n\n## User preferences\n${pnpm}\n`;
  edit(nights, (text) => text.replace(`${pnpm}\n`, '') + moved);
  nights.write(next);
  const { report } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.equal(report.people.removed, 0);
  assert.deepEqual(listTombstones(await stateOf(nights)), []);
  assert.match(nights.file(handbook), new RegExp(`# Task Group: Tools[\\s\\S]*${pnpm.slice(0, 40)}`));
  assert.equal(nights.file(handbook).split(pnpm).length, 2, 'it stands once');
});

test('git mv of the handbook and back is no edit', async (t) => {
  const nights = await afterInit(t);
  nights.git('mv', handbook, 'memories/OTHER.md');
  commitAll(nights.dir, 'Away');
  nights.git('mv', 'memories/OTHER.md', handbook);
  commitAll(nights.dir, 'Back');
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.deepEqual(report.people, { added: 0, removed: 0 });
  assert.equal(requests.length, 0);
});

test('evidence that another line still cites is not forgotten with the removed one', async (t) => {
  const nights = await afterInit(t);
  edit(nights, (text) => text.replace(`${zebra}\n`, `${zebra}\n- clear caches first [${short}@8]\n`));
  await nights.play({ at: '2026-11-30T03:00:00Z' });
  edit(nights, (text) => text.replace(`${zebra}\n`, ''));
  const { report } = await nights.play({ at: '2026-12-01T03:00:00Z' });
  assert.equal(report.people.removed, 1);
  assert.deepEqual(listTombstones(await stateOf(nights)), []);
  assert.match(nights.file(handbook), /- clear caches first/);
});

test('a person’s lines in the summary stay, and what they removed from it is not argued about', async (t) => {
  const nights = await afterInit(t);
  const path = 'memories/memory_summary.md';
  edit(nights, (text) => text.replace('## General Tips\n', '## General Tips\n\n- Kim knows the build\n'), path);
  nights.write(next);
  const { report } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.equal(report.outcome, 'done');
  assert.match(nights.file(path), /## General Tips\n\n?- Kim knows the build\n/);
});
