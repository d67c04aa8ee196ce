import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aFix, codexText, uuid } from '../support/codex-session.ts';
import { filesAt, playNight } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const words = '- Ask Dana before you touch lib/legacy.';
/** Both sessions are of one repository and folder, so that the second night makes the block anew. */
const here = { remote: 'https://git.example.test/acme/app.git', cwd: '/home/dana/src/app' };

/** A night, a bullet that a person adds to one of its sections, then a night with a new session. */
async function afterPersonsBullet(t: TestContext, between: (repo: string) => void): Promise<string> {
  const repo = aRepository(t);
  const sessions = temporaryFolder(t);
  const sources = [{ agent: 'codex' as const, path: sessions }];
  writeFiles(sessions, { [`rollout-${uuid(1)}.jsonl`]: codexText(aFix(1, [], here)) });
  await playNight(repo, sources);
  const handbook = readFileSync(join(repo, 'memories/MEMORY.md'), 'utf8');
  const heading = '## Reusable knowledge\n';
  assert.ok(handbook.includes(heading));
  writeFiles(repo, { 'memories/MEMORY.md': handbook.replace(heading, `${heading}${words}\n`) });
  commitAll(repo, 'A person’s line');
  between(repo);
  writeFiles(sessions, { [`rollout-${uuid(2)}.jsonl`]: codexText(aFix(2, [], here)) });
  await playNight(repo, sources, { at: '2026-12-02T03:17:00Z' });
  return filesAt(repo, 'HEAD').get('memories/MEMORY.md') ?? '';
}

test('a bullet without evidence that a person added stands after the next night', async (t) => {
  assert.ok((await afterPersonsBullet(t, () => {})).includes(words));
});

test('it stands too where the state is lost, so that nobody recorded whose it is', async (t) => {
  const memory = await afterPersonsBullet(t, (repo) => git(repo, 'update-ref', '-d', 'refs/memory/state'));
  assert.ok(memory.includes(words));
});
