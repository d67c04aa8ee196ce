import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { correcting } from '../support/codex-session.ts';
import { forgets, formsOf, laptopOf, obey, reachable, toldBy } from '../support/forgetting.ts';
import { everyObject } from '../support/laptops.ts';
import { git, writeFiles } from '../support/repository.ts';
import { aTeamOnServers, edit, type TestTeam } from '../support/team.ts';

const handbook = 'memories/MEMORY.md';
const proposal = 'refs/heads/memory/nightly';
/** Words that look different in each form. */
const name = 'Halvorsen & "Søn"';
const said = `No, prices of ${name} are integer cents in lib/price1.ts, never floats.`;
const forms = formsOf(name);

/** A memory that knows the name: merged once, then gone on with. */
async function aTeamThatKnows(t: TestContext): Promise<TestTeam> {
  const team = await aTeamOnServers(t);
  team.session(correcting(1, said, '2026-11-20T10:00:00Z'));
  await plays(team, '2026-11-22T03:17:00Z');
  team.merge('merge');
  team.session(correcting(2, 'No, use npm test and not jest for lib/price2.ts.', '2026-11-22T10:00:00Z'));
  await plays(team, '2026-11-23T03:17:00Z');
  assert.ok(team.file(proposal, handbook).includes(name));
  return team;
}

async function plays(team: TestTeam, at: string): Promise<void> {
  const night = await team.night(at);
  assert.equal(night.code, 0, night.stderr);
}

/** What is left of the words in a text, by form. */
function held(text: string): string[] {
  return Object.entries(forms).flatMap(([form, words]) => (text.includes(words) ? [form] : []));
}

test('what is planted on each surface is found, and after forget and the printed commands nothing is left', async (t) => {
  const team = await aTeamThatKnows(t);
  const clone = team.clone();
  team.person('main', (to) => edit(to, 'notes.md', () => `See ${forms.url} about it.\n`));
  git(clone, 'switch', '--quiet', '--create', 'idea');
  writeFiles(clone, { 'idea.txt': `${forms.base64}\n`, 'data.json': `{"to":"${forms.json}"}\n` });
  git(clone, 'add', '--all');
  git(clone, 'commit', '--quiet', '--message', `A mail to ${name}`);
  git(clone, 'tag', '--annotate', '--message', `For ${name}`, 'v1');
  git(clone, 'push', '--quiet', team.dir, 'idea', 'v1');
  git(clone, 'switch', '--quiet', 'main');
  const journal = join(clone, '.git/memory/journal/answers/aa.json');
  const note = join(laptopOf(clone), 'state/notes/0123/extensions/ad_hoc/notes/n.md');
  const shard = join(clone, '.git/memory/shards/1-of-2/answers/aa.json');
  writeFiles('/', { [shard]: `{"reply":"${forms.json}"}` });
  writeFiles('/', { [journal]: `{"reply":"${forms.json}"}`, [note]: `Remember ${name}.\n` });
  const grown = join(clone, '.git/memory/journal/answers/000001.jsonl');
  const lines = ['{"reply":"first"}\n', `{"reply":"${forms.json}"}\n`, '{"reply":"last"}\n'];
  writeFiles('/', { [join(clone, '.git/memory/journal/answers/bb.json')]: '{"reply":"something else"}' });
  writeFiles('/', { [grown]: lines.join('') });

  const first = await forgets(clone, ['--match', name, '--yes', '--json']);
  assert.equal(first.code, 3, first.stderr);
  const told = toldBy(first);
  const found = (ref: string, remote: boolean) =>
    told.leftovers.flatMap((one) => (one.ref === ref && one.remote === remote ? [`${one.path} ${one.form}`] : []));
  assert.deepEqual(found('refs/heads/idea', true).slice(0, 3).sort(), [
    'data.json json',
    'idea.txt base64',
    'null plain',
  ]);
  assert.ok(found('refs/tags/v1', true).includes('null plain'), 'the tag’s own words');
  assert.ok(found('refs/heads/main', true).includes('notes.md url'));
  assert.ok(found('refs/heads/main', true).includes('state.sqlite.json json'), 'the published copy');
  assert.ok(found('refs/heads/main', true).includes(`${handbook} plain`));
  assert.deepEqual(found('refs/memory/state', true), [], 'the state is clean, with its history');
  assert.ok(!existsSync(journal) && !existsSync(note) && !existsSync(shard));
  assert.ok(existsSync(join(clone, '.git/memory/journal/answers/bb.json')), 'others’ answers stay');
  assert.equal(readFileSync(grown, 'utf8'), `${lines[0]}${lines[2]}`, 'others’ answers of the same file too');
  assert.doesNotMatch(team.file(proposal, handbook), /Halvorsen/);
  assert.match(team.file(proposal, handbook), /not jest/);
  assert.deepEqual(held(team.file('refs/memory/state', 'state.sqlite.json')), []);
  assert.deepEqual(held(team.file(proposal, 'state.sqlite.json')), []);

  assert.equal(told.pullRequest?.number, 2);
  assert.match(told.steps[0]?.why ?? '', /merge pull request 2/);
  team.merge('merge');
  // A note of a person is theirs to write anew.
  team.person('main', (to) => edit(to, 'notes.md', () => 'Nothing.\n'));
  obey(
    clone,
    told.steps.slice(1).filter(({ commands }) => !commands.some((one) => one.includes('memory/nightly'))),
    team.url,
    team.dir,
  );
  const second = await forgets(clone, ['--match', name, '--yes', '--json'], '2026-11-24T11:00:00Z');
  assert.deepEqual([second.code, toldBy(second).leftovers], [0, []], second.stderr);
  assert.deepEqual(held(reachable(team.dir)), [], 'on the server');
  obey(clone, told.steps.slice(-1));
  assert.deepEqual(held(everyObject(clone)), [], 'in the clone, reachable or not');
  assert.match(git(team.dir, 'log', '--format=%s', 'main'), /A person’s work[\s\S]*Start/, 'the history is still told');

  await plays(team, '2026-11-25T03:17:00Z');
  assert.deepEqual(held(reachable(team.dir)), [], 'the session is still at hand, and teaches it to nobody');
  assert.match(team.file('refs/heads/main', handbook), /not jest/);
});
