import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Bent, bentNight } from '../support/bent-nights.ts';
import { firstCorrection as first, secondCorrection as second } from '../support/codex-session.ts';
import { cwdOf, shop, startNights } from '../support/model-nights.ts';
import { startNightly } from '../support/nights.ts';
import { tablesAt } from '../support/soak.ts';
import { secret } from '../support/soak-hostile.ts';
import { aSoakModel, type SoakModel, soakModelConfig } from '../support/soak-model.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';
import { botToken, edit } from '../support/team.ts';
import { threadId } from '../support/written-sessions.ts';

const stateRef = 'refs/memory/state';
const proposal = 'refs/heads/memory/nightly';
const at = (night: number) => `2026-11-${21 + night}T03:17:00Z`;

interface Setting {
  readonly team: StagedTeam;
  readonly model: SoakModel;
  readonly clone: string;
  night(n: number, bent?: Bent): ReturnType<typeof bentNight>;
}

async function aTeam(t: TestContext): Promise<Setting> {
  const model = await aSoakModel(t, secret);
  const team = await aStagedTeam(t, '', soakModelConfig(model.baseUrl));
  const clone = team.clone();
  await team.collect(first);
  const patience = { wait: async () => undefined, maxRetries: 1 };
  const env = { OPENAI_API_KEY: 'a-key' };
  return { team, model, clone, night: (n, bent) => bentNight(team, { clone, clock: at(n), patience, env, ...bent }) };
}

/** By phase: tokens that the rows of all nights tell, and those that the server gave. */
function accounts({ team, model }: Setting) {
  const rows = tablesAt(team.file(stateRef, 'state.sqlite.json'))('runs').map(({ usage }) => JSON.parse(String(usage)));
  return (['phase1', 'phase2'] as const).map((phase) => ({
    told: rows.reduce((sum, usage) => sum + (usage[phase]?.input ?? 0) + (usage[phase]?.output ?? 0), 0),
    paid: model.paid.filter((one) => one.phase === phase).reduce((sum, { tokens }) => sum + tokens, 0),
  }));
}

function eachTokenStandsOnce(setting: Setting): void {
  for (const { told, paid } of accounts(setting)) {
    assert.ok(paid > 0);
    assert.equal(told, paid);
  }
}

/** What stands when the night is stopped: at its next request to the server. */
const points: readonly (readonly [string, (setting: Setting) => boolean])[] = [
  ['before the state', ({ model }) => model.paid.some(({ phase }) => phase === 'phase2')],
  ['after the state', ({ team }) => team.tip(stateRef) !== null],
  ['after the branch', ({ team }) => team.tip(proposal) !== null],
  ['after the pull request', ({ team }) => team.forge.pulls.length > 0],
  ['after all of it', ({ team }) => team.forge.pulls.length > 0 && pendingPush(team) === null],
];

function pendingPush(team: StagedTeam): unknown {
  return JSON.parse(team.file(stateRef, 'night.json')).pendingPush;
}

for (const [point, hasCome] of points) {
  test(`a night whose server goes away ${point}: the next one’s row does not tell again what stands in a row`, async (t) => {
    const setting = await aTeam(t);
    const { team } = setting;
    team.server.fault = () => (hasCome(setting) ? { kind: 'drop' } : null);
    await setting.night(1);
    team.server.fault = null;
    await team.collect(second);
    const next = await setting.night(2);
    assert.equal(next.code, 0, next.stderr);
    eachTokenStandsOnce(setting);
  });

  test(`a night that is killed ${point}: as well`, async (t) => {
    const setting = await aTeam(t);
    const { team, clone } = setting;
    const env = { CTM_CLOCK: at(1), TEAM_TOKEN: botToken, OPENAI_API_KEY: 'a-key' };
    const night = startNightly(['--repo', clone, '--now', '--since', 'all'], { env });
    team.server.fault = () => {
      if (!hasCome(setting)) return null;
      night.killAll();
      return { kind: 'stall' };
    };
    assert.equal((await night.ended).signal, 'SIGKILL');
    team.server.fault = null;
    await team.collect(second);
    const next = await setting.night(2);
    assert.equal(next.code, 0, next.stderr);
    eachTokenStandsOnce(setting);
  });
}

test('a night that does not learn that its branch got there, and a person has gone on from it: as well', async (t) => {
  const setting = await aTeam(t);
  const { team } = setting;
  let hasWritten = false;
  team.server.fault = ({ method, url }) => {
    if (team.tip(proposal) === null)
      return team.tip(stateRef) !== null && method === 'POST' && url.endsWith('receive-pack') ? { kind: 'cut' } : null;
    if (hasWritten) return null;
    hasWritten = true;
    team.person('memory/nightly', (to) => edit(to, 'memories/MEMORY.md', (text) => `${text}\nA person’s line.\n`));
    return null;
  };
  assert.equal((await setting.night(1)).code, 1);
  team.server.fault = null;
  const next = await setting.night(2);
  assert.equal(next.code, 0, next.stderr);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /A person’s line/);
  eachTokenStandsOnce(setting);
});

test('a night of one’s own that cannot move the branch after the state: as well', async (t) => {
  const nights = await startNights(t, 'git');
  const write = (n: number) =>
    nights.write({
      id: threadId(n),
      cwd: cwdOf[shop],
      at: '2026-11-29T10:00:00Z',
      happened: [{ human: `Task ${n}` }, { run: 'make', out: `FACT ${n} is prime` }],
    });
  write(1);
  const lock = join(nights.dir, '.git/refs/heads/main.lock');
  writeFileSync(lock, '');
  await assert.rejects(nights.play({ at: '2026-11-30T03:00:00Z' }), /main\.lock/);
  rmSync(lock);
  write(2);
  await nights.play({ at: '2026-12-01T03:00:00Z' });
  const rows = tablesAt(`${nights.git('show', `${stateRef}:state.sqlite.json`)}\n`)('runs');
  const usages = rows.map(({ usage }) => JSON.parse(String(usage)));
  const told = usages.reduce((sum, { phase1, phase2 }) => sum + phase1.requests + phase2.requests, 0);
  assert.deepEqual([rows.length, told], [2, nights.server.requests.length]);
});
