import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPieces } from '../../scripts/recall/read-own.ts';
import { groupSearch } from '../../scripts/workspace/groups-naming.ts';
import { parseHandbook, scopeOf } from '../../scripts/workspace/handbook.ts';
import { aBlock, groupsIn } from '../support/handbooks.ts';
import { temporaryFolder } from '../support/repository.ts';

const app = 'github.com/acme/app';

/** What the whole handbook's reader finds, by text and line. */
function byReader(handbook: string, scopes: readonly string[]): object[] {
  return parseHandbook(handbook)
    .blocks.filter((block) => scopes.includes(scopeOf(block) ?? ''))
    .map(({ raw, line }) => ({ raw, line }));
}

/** What the search finds, without those of which the reader says that they speak for another. */
function bySearch(handbook: string, scopes: readonly string[]): object[] {
  return groupsIn(handbook, scopes)
    .map(({ bytes, line }) => ({ raw: bytes.toString('utf8'), line }))
    .filter(({ raw }) => scopes.includes(scopeOf(parseHandbook(raw).blocks[0] ?? assert.fail()) ?? ''));
}

const parts: readonly string[] = [
  aBlock({ repo: app, preferences: ['use pnpm “always” 🚀'] }),
  aBlock({ repo: '*', title: '每个仓库' }),
  aBlock({ repo: 'github.com/acme/app2', knowledge: [`not applies_to: repo=${app};`] }),
  aBlock({ repo: 'gitlab.com/größe/app', title: 'Ä' }),
  aBlock({ repo: 'local:c++ (old)|x' }),
  `# Task Group: spaced\napplies_to:\t repo= \u00a0${app}\u3000 ; cwd=.\n`,
  `# Task Group: at the end of its line\napplies_to: repo=${app}\n`,
  `# A person’s section\napplies_to: repo=${app}; cwd=.\n- mine\n`,
  '```\n# Task Group: in a fence that was left open\n',
  '~~~sh\n# a comment in a fence\n~~~\n# \n#\tA heading after a tab\n',
  `applies_to: repo=${app}; before everything\n`,
  '\n\n## Notes\nprose\n',
];
const scopeLists: readonly (readonly string[])[] = [
  [app, '*'],
  ['*'],
  ['gitlab.com/größe/app'],
  ['local:c++ (old)|x', app],
];

test('the search finds every group that the reader gives a scope to, as it stands and where', () => {
  let found = 0;
  for (const first of parts)
    for (const second of parts)
      for (const third of parts)
        for (const text of [`${first}${second}\n${third}`, `${first}\n${second}${third}`.replaceAll('\n', '\r\n')])
          for (const scopes of scopeLists) {
            const wanted = byReader(text, scopes);
            assert.deepEqual(bySearch(text, scopes), wanted, JSON.stringify([text, scopes]));
            found += wanted.length;
          }
  assert.ok(found > 5_000, `${found}`);
});

test('other repositories’ groups stay bytes', () => {
  const handbook = Array.from({ length: 200 }, (_, n) => aBlock({ repo: `github.com/acme/app-${n}` })).join('\n');
  assert.equal(groupsIn(handbook, ['github.com/acme/app-7', '*']).length, 1);
  assert.deepEqual(groupsIn('', [app]), []);
});

test('a handbook that comes in pieces of any size gives the same groups, at the same lines', async (t) => {
  const path = join(temporaryFolder(t), 'MEMORY.md');
  const scopes = [app, '*'];
  for (const text of [parts.join('\n'), parts.join('').replaceAll('\n', '\r\n'), parts.toReversed().join('\n'), '']) {
    await writeFile(path, `\ufeff${text}`);
    for (const size of [4, 7, 64, 300, 1_000, 65_536]) {
      const { found, search } = groupSearch(scopes);
      assert.equal(readPieces(path, search, size).kind, 'file');
      assert.deepEqual(found, groupsIn(text, scopes), `${size}: ${JSON.stringify(text)}`);
    }
  }
});
