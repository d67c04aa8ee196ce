import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { hookAgents } from '../../scripts/collect/flags.ts';
import { parseRollout, writeRollout } from '../../scripts/rollout/canonical.ts';
import { agentFolders } from '../../scripts/rollout/folders.ts';
import type { Reading } from '../../scripts/rollout/reader.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { type Agent, agents } from '../../scripts/rollout/types.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import { temporaryFolder, writeFiles } from '../support/repository.ts';
import { brief, furtherSamples, openSamples, samples, sessionOf } from '../support/sessions.ts';

const home = '/root';
const readme = readFileSync(join(samples, '../../../README.md'), 'utf8');

for (const agent of agents)
  test(`${agent} is known wherever an agent is listed`, () => {
    assert.equal(readers[agent].agent, agent);
    assert.deepEqual(parseConfig(`sources: [{ agent: ${agent}, path: x }]`).sources, [{ agent, path: 'x' }]);
    assert.ok(agentFolders({}, '/home/dana').some((folder) => folder.agent === agent));
    assert.match(readme, new RegExp(`^\\| [^|]+ \\| \`${agent}\` \\|`, 'm'), 'README’s table of agents');
  });

test('every agent whose hooks announce a transcript has a reader', () => {
  assert.deepEqual(
    hookAgents.filter((agent) => !agents.includes(agent)),
    [],
  );
});

test('an agent that was told to keep its sessions elsewhere is looked for there', () => {
  const at = (env: Record<string, string>, agent: Agent) =>
    agentFolders(env, '/h').flatMap((folder) => (folder.agent === agent ? [folder.path] : []));
  assert.deepEqual(at({}, 'copilot'), ['/h/.copilot/session-state']);
  assert.deepEqual(at({ COPILOT_HOME: '/c' }, 'copilot'), ['/c/session-state']);
  assert.deepEqual(at({}, 'gemini'), ['/h/.gemini/tmp']);
  assert.deepEqual(at({ GEMINI_CLI_HOME: '/g' }, 'gemini'), ['/g/.gemini/tmp']);
  assert.deepEqual(at({}, 'opencode'), ['/h/.local/share/opencode/exports']);
  assert.deepEqual(at({ XDG_DATA_HOME: '/d' }, 'opencode'), ['/d/opencode/exports']);
  assert.deepEqual(at({}, 'pi'), ['/h/.pi/agent/sessions']);
  assert.deepEqual(at({ PI_CODING_AGENT_DIR: '/p' }, 'pi'), ['/p/sessions']);
  assert.deepEqual(at({ PI_CODING_AGENT_DIR: '/p', PI_CODING_AGENT_SESSION_DIR: '/s' }, 'pi'), ['/s']);
});

test('no reader takes another agent’s session for its own', async () => {
  const others = [
    {
      agent: 'codex',
      path: join(
        samples,
        'codex/exec/08-trivial/rollout-2026-11-29T23-45-38-01a229b3-2f01-7c82-8240-74bf29afb998.jsonl',
      ),
    },
    {
      agent: 'claude-code',
      path: join(samples, 'claude-code/-home-dana-src-orders-api/a51632fc-6a01-4c0a-8627-092d4c0a0b32.jsonl'),
    },
    ...furtherSamples,
  ];
  const taken: string[] = [];
  for (const { agent, path } of others)
    for (const reader of Object.values(readers))
      if ((await reader.read(path, { home })).outcome === 'session') taken.push(`${reader.agent} reads ${agent}`);
  assert.deepEqual(
    taken,
    others.map(({ agent }) => `${agent} reads ${agent}`),
  );
});

test('a folder of each agent’s sessions is searched for its files only, and the ids are its own', async () => {
  const sources = ['copilot', 'gemini', 'opencode', 'pi'].map((agent) => ({
    agent: agent as Agent,
    path: join(samples, agent),
  }));
  const { found, ignored } = await openSamples(sources).list();
  assert.deepEqual(
    found.map(({ thread }) => `${thread.agent} ${thread.id}`),
    [
      'pi 01a229b5-1a9c-76d3-aaac-f76d841a2efb',
      'copilot b0383e95-2462-4442-8966-61c3ff7468ed',
      'gemini bceb1b1d-169c-4b8a-bff9-c7847189b924',
      'copilot ff2e5fd5-d029-4eec-b9b6-0a77c6f74065',
      'opencode ses_dd64baf82ffejwkbVSQ0wkClD1',
    ],
  );
  assert.deepEqual(
    ignored
      .map(({ path, reason }) => `${path.split('/').at(-1)}: ${reason}`)
      .filter((line) => !line.endsWith('not a .jsonl file')),
    ['projects.json: not a Gemini CLI session'],
  );
});

const copies = furtherSamples.map(({ agent, path }) => ({ agent, path, bytes: readFileSync(path) }));

for (const { agent, path, bytes } of copies.filter((_, index) => index !== 1)) {
  const name = path.split('/').at(-1) ?? '';
  const whole = async () => sessionOf(await readers[agent].read(path, { home }));
  const isLines = name.endsWith('.jsonl');

  test(`${agent}: line ends, a byte order mark and blank lines change nothing`, async (t) => {
    const { items } = await whole();
    const crlf = bytes.toString('utf8').replaceAll('\n', '\r\n');
    assert.deepEqual(told(await readBytes(t, agent, name, Buffer.from(`\ufeff${crlf}`))), told(sessionRead(items)));
    assert.deepEqual(told(await readBytes(t, agent, name, Buffer.from(`${crlf}\r\n\r\n\n`))), told(sessionRead(items)));
  });

  test(`${agent}: of a file that is cut anywhere, whatever is whole is read under the same numbers`, async (t) => {
    const all = told(sessionRead((await whole()).items));
    let most = 0;
    for (const share of [0.02, 0.3, 0.5, 0.77, 0.95, 0.999]) {
      const reading = await readBytes(t, agent, name, bytes.subarray(0, Math.floor(bytes.length * share)));
      if (reading.outcome === 'ignored') continue;
      const part = told(reading);
      // The words on the way are the last ones where nothing follows them.
      const unsure = (line: string) => line.replace(' assistant/', ' commentary/');
      for (const line of part) assert.ok(all.map(unsure).includes(unsure(line)), line);
      assert.equal(reading.session.skipped.bad_json, 1);
      assert.ok(part.length >= most);
      most = part.length;
    }
    assert.ok(most > 0);
  });

  test(`${agent}: an empty file, no JSON and a symbolic link are told`, async (t) => {
    assert.deepEqual(await readBytes(t, agent, name, Buffer.alloc(0)), { outcome: 'ignored', reason: 'empty' });
    for (const text of ['\n\n', 'no json at all\n', '[1,2]\n', 'null\n', '{}\n', '{"a":1}\n'])
      assert.match(JSON.stringify(await readBytes(t, agent, name, Buffer.from(text))), /"ignored","reason":"not an? /);
    const link = join(temporaryFolder(t), name);
    symlinkSync(path, link);
    await assert.rejects(readers[agent].read(link, { home }), /ELOOP/);
  });

  test(`${agent}: an id that could be a path, or is no text, becomes a plain one`, async (t) => {
    for (const hostile of ['../../etc/passwd', 'a b', 'x'.repeat(200), '-rf', '日本']) {
      const id = (await whole()).id;
      const folder = temporaryFolder(t);
      writeFiles(folder, { [name]: bytes.toString('utf8').replaceAll(JSON.stringify(id), JSON.stringify(hostile)) });
      const rollouts = openRollouts([{ agent, path: folder }], { include: [], checkouts: nowhere, home });
      const { found } = await rollouts.list();
      assert.match(found[0]?.thread.id ?? '', /^x-[0-9a-f]{16}$/, hostile);
    }
  });

  test(`${agent}: words of any language, and what looks like a home folder, arrive as they should`, async (t) => {
    const words = '修正して “ça” 👩‍💻 in /home/erin/src, \\u0000 done';
    const text = bytes.toString('utf8').replace(/The total\(\) test fails, fix it\.[^"\\]*/, words);
    const reading = await readBytes(t, agent, name, Buffer.from(text));
    const human = sessionOf(reading).items.find(({ who }) => who === 'human');
    assert.equal(human?.text.replace(/^"|"$/g, ''), '修正して “ça” 👩‍💻 in ~/src,  done');
  });

  test(`${agent}: a version that is not known yet is read as far as it is understood`, async (t) => {
    const { items } = await whole();
    const text = bytes.toString('utf8').replace(/("version": ?)(?:\d|"1\.18\.33")/, '$199');
    const newer = `${text.trimEnd()}\n`.replace('"timestamp"', '"brandNew":{"a":[1]},"timestamp"');
    assert.deepEqual(told(await readBytes(t, agent, name, Buffer.from(newer))), told(sessionRead(items)));
  });

  test(`${agent}: the canonical form is read back as it was written`, async () => {
    const rollouts = openRollouts([{ agent, path }], { include: [], checkouts: nowhere, home });
    const rollout = await rollouts.read((await rollouts.list()).found[0]?.thread.id ?? '');
    assert.deepEqual(parseRollout(writeRollout(rollout)), rollout);
    assert.ok(!JSON.stringify(rollout).includes('/home/'), 'no home folder is left');
  });

  if (isLines)
    test(`${agent}: bad lines between good ones are counted, and so is one that is far too long`, async (t) => {
      const { items, skipped } = await whole();
      const lines = bytes.toString('utf8').split('\n');
      const broken = [...lines.slice(0, 3), '{"broken', '[]', '42', ...lines.slice(3)].join('\n');
      const session = sessionOf(await readBytes(t, agent, name, Buffer.from(broken)));
      assert.equal(session.items.length, items.length);
      assert.deepEqual(session.skipped, { ...skipped, bad_json: 3 });
      const long = Buffer.concat([bytes, Buffer.from('{"x":"'), Buffer.alloc(17_000_000, 'QUJD'), Buffer.from('"}\n')]);
      assert.deepEqual(sessionOf(await readBytes(t, agent, name, long)).skipped, { ...skipped, too_long: 1 });
      const notText = Buffer.concat([bytes, Buffer.from([0xff, 0xfe, 0x0a])]);
      assert.deepEqual(sessionOf(await readBytes(t, agent, name, notText)).skipped, {
        ...skipped,
        bad_json: 1,
        bad_utf8: 1,
      });
    });
}

const nowhere = { of: () => Promise.resolve(null) };

async function readBytes(t: TestContext, agent: Agent, name: string, bytes: Buffer): Promise<Reading> {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, bytes);
  return readers[agent].read(path, { home });
}

type Items = Parameters<typeof brief>[0];

function sessionRead(
  items: Items,
): Pick<Extract<Reading, { outcome: 'session' }>, 'outcome'> & { session: { items: Items } } {
  return { outcome: 'session', session: { items } };
}

function told(
  reading: { readonly outcome: string } & ({ readonly session: { readonly items: Items } } | object),
): string[] {
  return 'session' in reading ? brief(reading.session.items) : [];
}
