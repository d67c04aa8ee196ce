import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownersOf } from '../../scripts/recall/search/owners.ts';
import { everywhere } from '../../scripts/workspace/layout.ts';

const shop = 'git.example.test/acme/shop';

test('a note belongs to the repository that its header names, else to all', () => {
  const scopeOf = (path: string, text: string) => ownersOf(path, text)[0]?.scope;
  const note = 'extensions/ad_hoc/notes/2026-11-30T08-15-00-x.md';
  assert.equal(scopeOf(note, `thread: k3f7x2ab\nrepo: ${shop}\nauthority: human\n\nUse pnpm.\n`), shop);
  assert.equal(scopeOf(note, `Use pnpm.\nrepo: ${shop}\n`), everywhere);
  assert.equal(scopeOf('extensions/runbook/resources/x.md', `repo: ${shop}\n\nRestart it.\n`), shop);
  assert.equal(scopeOf('extensions/runbook/instructions.md', `repo: ${shop}\n`), undefined);
});
