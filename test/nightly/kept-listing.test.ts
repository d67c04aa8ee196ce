import assert from 'node:assert/strict';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aFix, codexText, uuid } from '../support/codex-session.ts';
import { forgets } from '../support/forgetting.ts';
import { over, playedHere } from '../support/nights.ts';
import { aRepository, temporaryFolder, writeFiles } from '../support/repository.ts';

test('a night keeps its listing in the user’s cache folder, a dry run none, and forgetting throws it away', async (t) => {
  const repo = aRepository(t, { '.github/memory.yml': 'version: 1\n' });
  const sessions = temporaryFolder(t);
  const args = over(repo, [{ agent: 'codex', path: sessions }]);
  writeFiles(sessions, { [`rollout-${uuid(1)}.jsonl`]: codexText(aFix(1)) });
  utimesSync(join(sessions, `rollout-${uuid(1)}.jsonl`), 1_577_836_800, 1_577_836_800);
  const folder = join(temporaryFolder(t), 'ctm');
  const listings = join(folder, 'cache/listings');
  const plays = async (...more: readonly string[]) => {
    const ended = await playedHere([...args, ...more], { CTM_HOME: folder });
    assert.equal(ended.code, 0, ended.stderr);
    return ended.stdout;
  };
  const before = await plays('--dry-run', '--json');
  assert.equal(existsSync(folder), false);
  await plays();
  assert.equal(readdirSync(listings).length, 1);
  const kept = await plays('--dry-run', '--json');
  assert.equal(kept, (await playedHere([...args, '--dry-run', '--json'])).stdout);
  assert.notEqual(kept, before);
  await forgets(repo, ['--match', 'nobody ever said this', '--yes'], undefined, { CTM_HOME: folder });
  assert.equal(existsSync(listings), false);
});
