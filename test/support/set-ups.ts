import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { doctorCommand, doctorSpec } from '../../scripts/doctor/command.ts';
import { findRepository } from '../../scripts/git/layout.ts';
import { gitProgram } from '../../scripts/git/program.ts';
import { driverCommand, install } from '../../scripts/merge-driver/setting.ts';
import { aFix } from './codex-session.ts';
import { ranHere, root } from './nights.ts';
import { env, git, temporaryFolder } from './repository.ts';
import { aTeamOnServers, botToken, type TestTeam } from './team.ts';

/** The day after the night of a set-up that is well. */
export const today = '2026-12-01T03:17:00Z';

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** How the doctor is asked. */
export interface Asked {
  readonly at?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Something that is wrong: how it comes about in a clone and on the servers, and every line that the doctor says of it,
 * in any order.
 */
export type Fault = readonly [
  name: string,
  plant: (place: { readonly clone: string; readonly team: TestTeam }) => void,
  lines: readonly RegExp[],
  asked?: Asked,
];

/** Plants each fault alone, in a copy of a set-up in which nothing is wrong, and looks for it. */
export async function findsEach(t: TestContext, faults: readonly Fault[], args: readonly string[]): Promise<void> {
  const { team, well } = await aTeamThatIsWell(t);
  const folder = temporaryFolder(t);
  const { isArchived, visibility, takesPulls } = team.forge.settings;
  for (const [index, [name, plant, expected, { at = today, env: more = {} } = {}]] of faults.entries()) {
    await t.test(name, async () => {
      const clone = join(folder, String(index));
      cpSync(well, clone, { recursive: true });
      plant({ clone, team });
      const all = { CTM_CLOCK: at, TEAM_TOKEN: botToken, ...more };
      const asked = ['--repo', clone, ...args];
      const { code, stdout } = await ranHere(doctorSpec, (world) => doctorCommand(world, driver), asked, all);
      const lines = stdout.startsWith('Nothing is wrong') ? [] : stdout.trimEnd().split('\n');
      assert.equal(lines.length, expected.length, stdout);
      for (const pattern of expected)
        assert.ok(
          lines.some((line) => pattern.test(line)),
          `${pattern}\n${stdout}`,
        );
      for (const line of lines) assert.match(line, / → \S/, 'every finding has a remedy');
      assert.equal(code, lines.some((line) => line.startsWith('error')) ? 1 : 0);
      assert.ok(!stdout.includes(botToken));
      assert.doesNotMatch(git(team.dir, 'for-each-ref', '--format=%(refname)'), /doctor/, 'what was tried is gone');
      Object.assign(team.forge.settings, { isArchived, visibility, takesPulls });
      team.server.refuse('acme/memory', '', '');
      git(team.dir, 'update-ref', '-d', 'refs/memory/lease');
    });
  }
}

const driver = driverCommand({ script: '/opt/memory/scripts/merge-driver.ts', loader: 'file:///opt/tsx' });

/** A team with one night behind it, and a clone in which nothing is wrong. */
async function aTeamThatIsWell(t: TestContext): Promise<{ team: TestTeam; well: string }> {
  const team = await aTeamOnServers(t);
  team.person('main', (to) => {
    cpSync(join(root, '.gitattributes'), join(to, '.gitattributes'));
    cpSync(join(root, '.github/workflows/nightly.yml'), join(to, '.github/workflows/nightly.yml'));
  });
  team.session(aFix(1));
  const well = team.clone();
  const night = await team.night('2026-11-30T03:17:00Z', { clone: well });
  assert.equal(night.code, 0, night.stderr);
  await install(gitProgram(await findRepository(well), env), driver);
  return { team, well };
}
