import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalogue } from '../../scripts/check/catalogue.ts';
import { root } from '../support/nights.ts';

test('README names every rule of the check, alone or by its family, and none that is not there', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf('\n## Check\n'), readme.indexOf('\n## Commands\n'));
  const table = section.split('\n').filter((line) => line.startsWith('| `'));
  const named = table.flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`([a-z]+\.[a-z_*]+)`/g)].map(([, id]) => id ?? ''),
  );
  const ids = Object.keys(catalogue);
  const covers = (name: string, id: string) => name === id || (name.endsWith('.*') && id.startsWith(name.slice(0, -1)));
  assert.deepEqual(
    ids.filter((id) => !named.some((name) => covers(name, id))),
    [],
  );
  assert.deepEqual(
    named.filter((name) => !ids.some((id) => covers(name, id))),
    [],
  );
});

test('every rule that code can tell is in the catalogue', () => {
  const told = [
    'rules',
    'block-rules',
    'evidence-rules',
    'summary-rules',
    'skill-rules',
    'text-rules',
    'verdicts',
  ].flatMap((file) => {
    const text = readFileSync(join(root, `scripts/workspace/${file}.ts`), 'utf8');
    return [
      ...text.matchAll(/'((?:path|file|handbook|block|task|reference|bullet|evidence|summary|skill|text)\.[a-z_]+)'/g),
    ].map(([, id]) => id ?? '');
  });
  assert.ok(told.length > 40);
  assert.deepEqual(
    [...new Set(told)].filter((id) => !(id in catalogue)),
    [],
  );
});
