import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CarriedNote } from '../../scripts/archive/notes.ts';
import { memoryPathOf, noteThreadId } from '../../scripts/archive/notes.ts';
import { violations } from '../../scripts/workspace/rules.ts';
import { currentState } from '../../scripts/state/current.ts';
import { ruleContext } from '../../scripts/state/rule-context.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { aFix, codexText, uuid } from '../support/codex-session.ts';
import { filesAt, type NightOptions, playNight } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const app = 'git.example.test/acme/app';
const here = { remote: `https://${app}.git`, cwd: '/home/dana/src/app' };
const second = '2026-12-02T03:17:00Z';
const third = '2026-12-03T03:17:00Z';

function aNote(over: Partial<CarriedNote> = {}): CarriedNote {
  return {
    kind: 'note',
    name: '2026-11-30T08-15-00-staging.md',
    authority: 'human',
    channel: 'command-line',
    author: 'dana',
    repo: app,
    at: 1_796_026_500,
    text: 'Staging is reset every Monday; seed it with make seed.',
    ...over,
  };
}

function markOf(note: CarriedNote, item = '1'): string {
  return `[${shortThreadId(noteThreadId(note))}@${item}]`;
}

/** A memory with a session's block, or without any. */
function aMemory(t: TestContext, withSession = true) {
  const repo = aRepository(t);
  const sessions = temporaryFolder(t);
  if (withSession) writeFiles(sessions, { [`rollout-${uuid(1)}.jsonl`]: codexText(aFix(1, [], here)) });
  const night = (options: NightOptions = {}) => playNight(repo, [{ agent: 'codex', path: sessions }], options);
  return { repo, night, text: (path: string) => filesAt(repo, 'HEAD').get(path) ?? '' };
}

async function faultsOf(repo: string, repository: Awaited<ReturnType<typeof playNight>>['repository']) {
  const { state } = await currentState(repository);
  const files = filesAt(repo, 'HEAD', 'memories');
  return violations(files, ruleContext(state, null, 'team')).filter(({ severity }) => severity === 'error');
}

test('a person’s note becomes a marked preference of its repository, beside what sessions taught', async (t) => {
  const note = aNote();
  const { repo, night, text } = aMemory(t);
  const { repository, report } = await night({ notes: [note] });
  console.log(text('memories/MEMORY.md'));
  console.log(text(memoryPathOf(note)));
  console.log(text('memories/memory_summary.md'));
  assert.deepEqual(report.notes.added, [memoryPathOf(note)]);
  assert.ok(text('memories/MEMORY.md').includes(`- ${note.text} [ad-hoc note] ${markOf(note)}`));
  assert.deepEqual(await faultsOf(repo, repository), []);
  const again = await night({ notes: [note], at: second });
  assert.equal(again.report.outcome, 'quiet');
});
