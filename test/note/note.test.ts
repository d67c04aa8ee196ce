import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { spoolNote, spoolOf } from '../../scripts/archive/note-spool.ts';
import { archivedNotes } from '../../scripts/archive/notes.ts';
import { memoryOf } from '../../scripts/collect/destination.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { aLaptop, app, appUrl, aTeam, everyObject, inRef, type TestLaptop } from '../support/laptops.ts';
import { note, type Sitting } from '../support/notes.ts';
import { env, git } from '../support/repository.ts';
import { joined, made } from '../support/secrets.ts';

const here = ['--repository', app];
const person: Sitting = { answer: '' };

function spool(laptop: TestLaptop): string {
  return spoolOf(join(laptop.home, 'ctm/state'), memoryOf(laptop.team, laptop.clone));
}

function waiting(laptop: TestLaptop): string[] {
  const folder = join(spool(laptop), 'extensions/ad_hoc/notes');
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function carried(team: string) {
  const repository = await openRepository(team, { env });
  return (await archivedNotes(repository, await repository.readRef(archiveRef))).notes;
}

function setUp(t: TestContext): { team: string; laptop: TestLaptop } {
  const team = aTeam(t);
  return { team, laptop: aLaptop(t, team) };
}

test('what a person types travels with the sessions as a person’s word, under the name that sessions have', async (t) => {
  const { team, laptop } = setUp(t);
  laptop.allow({}, { author: 'dana' });
  const said = await note(laptop, [...here, 'Staging is reset every Monday.'], person);
  assert.equal(said.code, 0);
  assert.match(
    said.stdout,
    /^Noted for git\.example\.test\/acme\/app, as your word: 2026-11-30T08-00-00-staging-is-reset-every-monday\.md\nIt waits in /,
  );
  assert.match((await laptop.collect(['--dry-run'])).stdout, /1 note would be sent\.\n {2}2026-11-30T08-00-00-staging/);
  assert.equal(waiting(laptop).length, 1);
  assert.match((await laptop.collect()).stdout, /1 note sent\./);
  assert.deepEqual(waiting(laptop), []);
  assert.deepEqual(await carried(team), [
    {
      kind: 'note',
      name: '2026-11-30T08-00-00-staging-is-reset-every-monday.md',
      authority: 'human',
      channel: 'command-line',
      author: 'dana',
      repo: app,
      at: 1_796_025_600,
      text: 'Staging is reset every Monday.',
    },
  ]);
});

test('where nobody sits at a terminal nothing is a person’s word', async (t) => {
  const { team, laptop } = setUp(t);
  const refused = await note(laptop, [...here, 'Use pnpm.']);
  assert.deepEqual([refused.code, waiting(laptop)], [2, []]);
  assert.match(refused.stderr, /cannot be a person’s word[\s\S]*--agent/);
  assert.equal((await note(laptop, [...here, '--agent', 'Use pnpm.'])).code, 0);
  await laptop.collect();
  assert.deepEqual(
    (await carried(team)).map(({ authority }) => authority),
    ['agent'],
  );
});

test('the folder where npm was called says whose note it is', async (t) => {
  const { laptop } = setUp(t);
  const folder = join(laptop.home, 'src/app/lib');
  mkdirSync(folder, { recursive: true });
  git(join(laptop.home, 'src/app'), 'init', '--quiet');
  git(join(laptop.home, 'src/app'), 'remote', 'add', 'origin', appUrl);
  const said = await note(laptop, ['--json', 'Use pnpm.'], { ...person, env: { INIT_CWD: folder } });
  assert.deepEqual(JSON.parse(said.stdout), {
    outcome: 'noted',
    name: '2026-11-30T08-00-00-use-pnpm.md',
    repo: app,
    authority: 'human',
    secrets: {},
    text: 'Use pnpm.',
  });
});

test('a note that no night would read is refused with what to do', async (t) => {
  const { laptop } = setUp(t);
  const cases: [string[], RegExp][] = [
    [['Use pnpm.'], /no repository with a remote|include of \.github/],
    [['--repository', 'git.example.test/other/app', 'Use pnpm.'], /does not name git\.example\.test\/other\/app/],
    [['--repository', 'nonsense', 'Use pnpm.'], /is no repository/],
    [['--repository', 'git.example.test/acme/*', 'Use pnpm.'], /is no repository/],
    [['--repository', '*', '--agent', 'Use pnpm.'], /needs a person’s word/],
    [[...here, '  '], /is blank/],
    [[...here, 'x'.repeat(8_193)], /more than 8192 bytes/],
    [[...here], /Say one thing/],
    [[...here, '--list', 'Use pnpm.'], /Say one thing/],
  ];
  for (const [args, why] of cases) {
    const { code, stderr } = await note(laptop, args, person);
    assert.equal(code, 2, args.join(' ').slice(0, 80));
    assert.match(stderr, why);
  }
  assert.deepEqual(waiting(laptop), []);
});

test('a secret is taken out before anything is kept, and the person sees what is left', async (t) => {
  const { team, laptop } = setUp(t);
  const secret = joined('ghp_', made(36));
  const dry = await note(laptop, [...here, '--dry-run', `Token ${secret} is for CI.`], person);
  assert.match(
    dry.stdout,
    /^Would note [\s\S]*Secrets removed: [a-z-]+ 1\. What is left:\nToken \[REDACTED_SECRET\] is for CI\./,
  );
  assert.equal(existsSync(spool(laptop)), false);
  await note(laptop, [...here, `Token ${secret} is for CI.`], person);
  assert.ok(
    !readFileSync(join(spool(laptop), 'extensions/ad_hoc/notes', waiting(laptop)[0] ?? ''), 'utf8').includes(secret),
  );
  await laptop.collect();
  assert.ok(!everyObject(team).includes(secret));
});

test('the same words in the same second are two notes; a script without Latin letters has a name, too', async (t) => {
  const { laptop } = setUp(t);
  for (const text of ['Use pnpm.', 'Use pnpm.', '使用 pnpm', '必ず聞いて']) await note(laptop, [...here, text], person);
  assert.deepEqual(waiting(laptop).sort(), [
    '2026-11-30T08-00-00-note.md',
    '2026-11-30T08-00-00-pnpm.md',
    '2026-11-30T08-00-00-use-pnpm-2.md',
    '2026-11-30T08-00-00-use-pnpm.md',
  ]);
  const { stdout } = await note(laptop, ['--list']);
  assert.match(stdout, /^4 wait:\n[\s\S]*human {2}必ず聞いて/);
});

test('notes go nowhere that others can read, and wait', async (t) => {
  const { team, laptop } = setUp(t);
  await note(laptop, [...here, 'Use pnpm.'], person);
  const exposure = { kind: 'seen', isPublic: true, isFork: false } as const;
  const { code, stderr } = await laptop.collect([], { exposure });
  assert.equal(code, 2);
  assert.match(stderr, /is public, so nothing was sent/);
  assert.deepEqual([inRef(team), waiting(laptop).length], [[], 1]);
});

test('a repository that this laptop does not allow stays here, with the reason', async (t) => {
  const { team, laptop } = setUp(t);
  await note(laptop, [...here, 'Use pnpm.'], person);
  laptop.allow({ include: ['git.example.test/acme/other'] });
  const { code, stdout } = await laptop.collect();
  assert.equal(code, 0);
  assert.match(stdout, /note stayed: 2026-11-30T08-00-00-use-pnpm\.md \(this laptop’s collect\.yml does not allow/);
  assert.deepEqual([inRef(team), waiting(laptop).length], [[], 1]);
});

test('a collector that died after it had sent a note sends no second one', async (t) => {
  const { team, laptop } = setUp(t);
  await note(laptop, [...here, 'Use pnpm.'], person);
  const kept = readFileSync(join(spool(laptop), 'extensions/ad_hoc/notes/2026-11-30T08-00-00-use-pnpm.md'));
  const about = readFileSync(join(spool(laptop), 'about/2026-11-30T08-00-00-use-pnpm.md.json'));
  await laptop.collect();
  writeFileSync(join(spool(laptop), 'extensions/ad_hoc/notes/2026-11-30T08-00-00-use-pnpm.md'), kept);
  writeFileSync(join(spool(laptop), 'about/2026-11-30T08-00-00-use-pnpm.md.json'), about);
  await laptop.collect();
  assert.deepEqual([inRef(team).length, waiting(laptop)], [1, []]);
});

test('what a tool kept goes as an agent’s note; half of one, a link and another memory’s do not', async (t) => {
  const { team, laptop } = setUp(t);
  const state = join(laptop.home, 'ctm/state');
  const memory = memoryOf(laptop.team, laptop.clone);
  const origin = { authority: 'agent', channel: 'mcp', memory, repo: app, at: 1_796_025_600 } as const;
  for (const name of ['good', 'half', 'link', 'nowhere'])
    await spoolNote(
      state,
      { name: `2026-11-30T08-00-00-${name}.md`, text: `${name} words` },
      name === 'nowhere' ? { ...origin, repo: 'none' } : origin,
    );
  const folder = join(spool(laptop), 'extensions/ad_hoc/notes');
  rmSync(join(folder, '2026-11-30T08-00-00-half.md'));
  rmSync(join(folder, '2026-11-30T08-00-00-link.md'));
  writeFileSync(join(laptop.home, 'private.txt'), 'private words');
  symlinkSync(join(laptop.home, 'private.txt'), join(folder, '2026-11-30T08-00-00-link.md'));
  const about = join(spool(laptop), 'about');
  writeFileSync(
    join(about, '2026-11-30T08-00-01-forged.md.json'),
    '{"format":"ctm-note","version":1,"authority":"root"}',
  );
  const { stdout } = await laptop.collect();
  assert.match(stdout, /nowhere\.md \(it belongs to no repository\)/);
  assert.match(stdout, /forged\.md \(nothing says whose it is\)/);
  assert.deepEqual(
    (await carried(team)).map(({ text, authority }) => [text, authority]),
    [['good words', 'agent']],
  );
});
