import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aMachine, snapshot, type TestMachine } from '../support/connected.ts';
import { writeFiles } from '../support/repository.ts';

function aSkill(name: string, repo: string | null, more = ''): string {
  const metadata = repo === null ? '' : `metadata:\n  repo: "${repo}"\n`;
  return `---\nname: ${name}\ndescription: How we do ${name}.\n${metadata}---\nRun make ${name}.\n${more}`;
}

interface Shop {
  readonly machine: TestMachine;
  readonly shop: string;
  readonly skills: string;
  connect(...more: string[]): ReturnType<TestMachine['connect']>;
}

/** A project whose team has a skill for it, one for all, one for another repository. */
function aShop(t: TestContext): Shop {
  const machine = aMachine(t);
  const shop = join(machine.home, 'shop');
  const skills = join(machine.home, 'memory/memories/skills');
  writeFiles(skills, {
    'release/SKILL.md': aSkill('release', 'git.example.test/acme/app'),
    'release/references/steps.md': '1. Tag.\n',
    'review/SKILL.md': aSkill('review', '*'),
    'bake/SKILL.md': aSkill('bake', 'git.example.test/acme/bakery'),
  });
  writeFiles(shop, { 'README.md': 'The shop.\n' });
  return {
    machine,
    shop,
    skills,
    connect: (...more) => machine.connect(['claude-code', '--project', shop, '--scope', 'local', ...more]),
  };
}

for (const kind of ['link', 'copy'] as const) {
  const flags = kind === 'copy' ? ['--skills', '--copy'] : ['--skills'];

  test(`the project’s skills and everybody’s are placed by ${kind}, twice is once, and --remove takes only them`, async (t) => {
    const { machine, shop, skills, connect } = aShop(t);
    const home = snapshot(machine.home);
    const { code, stdout, stderr } = await connect(...flags);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /The skill bake was left out: it is of git\.example\.test\/acme\/bakery/);
    for (const folder of ['.agents/skills', '.claude/skills']) {
      for (const name of ['release', 'review']) {
        const path = join(shop, folder, name);
        assert.equal(lstatSync(path).isSymbolicLink(), kind === 'link');
        if (kind === 'link') assert.equal(readlinkSync(path), join(skills, name));
        assert.equal(
          readFileSync(join(path, 'SKILL.md'), 'utf8'),
          readFileSync(join(skills, name, 'SKILL.md'), 'utf8'),
        );
      }
      assert.ok(!existsSync(join(shop, folder, 'bake')));
    }
    const once = snapshot(machine.home);
    assert.match((await connect(...flags)).stdout, /unchanged .*release/);
    assert.deepEqual(snapshot(machine.home), once);
    assert.equal((await connect('--remove')).code, 0);
    assert.deepEqual(snapshot(machine.home), home);
  });

  test(`a person’s own skill of that name is neither overwritten nor removed (${kind})`, async (t) => {
    const { machine, shop, connect } = aShop(t);
    writeFiles(shop, { '.claude/skills/release/SKILL.md': 'mine' });
    mkdirSync(join(shop, '.agents/skills'), { recursive: true });
    symlinkSync('../../elsewhere', join(shop, '.agents/skills/review'));
    const home = snapshot(machine.home);
    const { code, stdout } = await connect(...flags);
    assert.equal(code, 3);
    assert.equal(stdout.match(/left {6}.*is there already and is not ours/g)?.length, 2);
    assert.equal(readFileSync(join(shop, '.claude/skills/release/SKILL.md'), 'utf8'), 'mine');
    assert.equal(readlinkSync(join(shop, '.agents/skills/review')), '../../elsewhere');
    await connect('--remove');
    assert.deepEqual(snapshot(machine.home), home);
  });

  test(`what a person put in the place of ours, or edited, stays (${kind})`, async (t) => {
    const { shop, connect } = aShop(t);
    await connect(...flags);
    const path = join(shop, '.claude/skills/release');
    if (kind === 'link') {
      rmSync(path);
      writeFiles(path, { 'SKILL.md': 'mine now' });
    } else writeFileSync(join(path, 'SKILL.md'), 'mine now');
    const { code, stdout } = await connect('--remove');
    assert.equal(code, 3);
    assert.match(stdout, /left .*\.claude\/skills\/release: it is not ours any more, or was edited/);
    assert.equal(readFileSync(join(path, 'SKILL.md'), 'utf8'), 'mine now');
    assert.ok(!existsSync(join(shop, '.agents')));
  });
}

test('a copy is brought up to date, a link becomes a copy, and either leads to the clone that is named now', async (t) => {
  const { machine, shop, skills, connect } = aShop(t);
  const text = (): string => readFileSync(join(shop, '.agents/skills/release/SKILL.md'), 'utf8');
  await connect('--skills');
  await connect('--skills', '--copy');
  assert.ok(lstatSync(join(shop, '.agents/skills/release')).isDirectory());
  writeFiles(skills, { 'release/SKILL.md': aSkill('release', '*', 'New step.\n') });
  assert.ok(!text().includes('New step.'));
  await connect('--skills', '--copy');
  assert.ok(text().includes('New step.'));
  const other = join(machine.home, 'memory-2');
  writeFiles(other, { 'memories/skills/release/SKILL.md': aSkill('release', '*', 'Other.\n') });
  const args = ['claude-code', '--project', shop, '--scope', 'local', '--skills'];
  await machine.connect(args, { place: { named: other, clone: other } });
  assert.equal(readlinkSync(join(shop, '.agents/skills/release')), join(other, 'memories/skills/release'));
});

test('a skill that holds a link, a special name or too much is left out, as a hostile memory could lead anywhere', async (t) => {
  const { machine, shop, skills, connect } = aShop(t);
  rmSync(skills, { recursive: true });
  writeFiles(machine.home, { 'private/key': 'secret' });
  writeFiles(skills, {
    'links/SKILL.md': aSkill('links', '*'),
    'Bad Name/SKILL.md': aSkill('bad', '*'),
    'large/SKILL.md': aSkill('large', '*'),
    'large/blob.bin': Buffer.alloc(5 * 1024 * 1024),
    'empty/notes.md': 'no skill',
    'fine/SKILL.md': aSkill('fine', null),
  });
  symlinkSync(join(machine.home, 'private/key'), join(skills, 'links/key'));
  symlinkSync(join(machine.home, 'private'), join(skills, 'whole'));
  const { code, stdout } = await connect('--skills', '--copy');
  assert.equal(code, 0);
  for (const why of [
    'links was left out: key is a symbolic link',
    'large was left out: it is larger',
    'empty was left out: it has no SKILL.md',
    'Bad Name was left out',
    'whole was left out',
  ])
    assert.ok(stdout.includes(why), `${why} in ${stdout}`);
  assert.deepEqual(Object.keys(snapshot(join(shop, '.agents/skills'))), ['fine', 'fine/SKILL.md']);
});

test('a project’s folder of skills that is a link out of it is not written through', async (t) => {
  const { machine, shop, connect } = aShop(t);
  mkdirSync(join(machine.home, 'outside'));
  symlinkSync(join(machine.home, 'outside'), join(shop, '.agents'));
  const { code, stderr } = await connect('--skills');
  assert.equal(code, 1);
  assert.match(stderr, /is a link that leads out of/);
  assert.deepEqual(snapshot(join(machine.home, 'outside')), {});
});

test('a person’s own folders get what holds for every repository, wherever their agent’s folder is', async (t) => {
  const { machine } = aShop(t);
  const home = snapshot(machine.home);
  const { stdout } = await machine.connect(['claude-code', '--skills']);
  assert.match(stdout, /The skill release was left out/);
  for (const folder of ['.agents/skills', '.claude/skills'])
    assert.deepEqual(Object.keys(snapshot(join(machine.home, folder))), ['review']);
  await machine.connect(['claude-code', '--remove']);
  assert.deepEqual(snapshot(machine.home), home);
});

test('without --skills none is placed, and an address has none to place', async (t) => {
  const { shop, machine, connect } = aShop(t);
  await connect();
  assert.ok(!existsSync(join(shop, '.agents')));
  const { code, stderr } = await machine.connect(['codex', '--skills'], {
    place: { named: 'https://git.example.test/acme/memory', clone: null },
  });
  assert.equal(code, 2);
  assert.match(stderr, /Skills are taken from a clone/);
});
