import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksFor, entryOf, type OwnBlock, ranked } from '../../scripts/recall/own-blocks.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { type Block, bulletsOf, parseHandbook, scopeOf } from '../../scripts/workspace/handbook.ts';
import { formatReference } from '../../scripts/workspace/reference.ts';
import { groupsIn } from '../support/handbooks.ts';

const app = 'github.com/acme/app';
const head = `# Task Group: Builds “всё”\nscope: all of it\napplies_to: repo=${app}; cwd=.; reuse_rule=when building\n`;

/** A block's bullets as the whole reader gives them. */
function byReader(block: Block): object[] {
  return bulletsOf(block)
    .map(({ raw, line }) => ({ line, text: raw, title: block.title, scope: scopeOf(block) }))
    .sort((a, b) => a.line - b.line);
}

function bySpans({ bullets }: OwnBlock): object[] {
  return bullets.map(entryOf).map(({ line, text, title, scope }) => ({ line, text, title, scope }));
}

const parts: readonly string[] = [
  '## User preferences\n',
  '\n  ## REUSABLE Knowledge \n',
  '## Failures and how to do differently\n- one\n',
  '- a bullet [abcdefgh@1]\n  goes on\n\n  after a blank line\n',
  '* with “quotes” and a tab\n\tindented\nlazily continued\n',
  '+\tplus\n-no bullet\n',
  '## Task 1: build, success\n\n### rollout_summary_files\n- [x](y)\n\n### keywords\n- build, tests\n',
  '## Own heading\n- not one of the three\n',
  '```sh\n- in a fence\n## User preferences\n```\n- behind it\n',
  '~~~\n- in a fence left open\n',
  'prose\n\n\n',
  '- the last, without a line end',
];

test('bullets stay bytes, and are those that the whole reader finds, as they stand and where', () => {
  let found = 0;
  for (const first of parts)
    for (const second of parts)
      for (const third of parts)
        for (const text of [`${head}${first}${second}${third}`, `${head}${third}\n${first}${second}\n\n`])
          for (const handbook of [
            text,
            text.replaceAll('\n', '\r\n'),
            `# A person’s\n- x\n${text}\n# Another\n- y\n`,
          ]) {
            const wanted = parseHandbook(handbook).blocks.filter((block) => scopeOf(block) === app);
            const blocks = blocksFor(groupsIn(handbook, [app]), [app]);
            assert.deepEqual(blocks.map(bySpans), wanted.map(byReader), JSON.stringify(handbook));
            found += wanted.flatMap(bulletsOf).length;
          }
  assert.ok(found > 4_000, `${found}`);
});

test('a bullet stands by how many sessions taught it and by the newest of them', () => {
  const header = { cwd: '.', rollout_path: 'x.jsonl' };
  const reference = (thread: string, day: string) =>
    formatReference('rollout_summaries/x.md', {
      ...header,
      updated_at: `2026-11-${day}T00:00:00Z`,
      thread_id: thread,
    });
  const [one, two] = [shortThreadId('one'), shortThreadId('two')];
  const lines = [
    `- first [${one}@1]`,
    `- both [${one}@1] and [${two}@2,3], and again [${one}@9]`,
    '- a person’s, to a@b.example and [no@1]',
    `- second [${two}@2]`,
    '- a session that the block does not name [abcdefgh@1]',
  ];
  const of = (...references: string[]): OwnBlock[] =>
    blocksFor(
      groupsIn(
        `${head}\n## Task 1: x, success\n\n### rollout_summary_files\n${references.join('\n')}\n\n## User preferences\n${lines.join('\n')}\n`,
        [app],
      ),
      [app],
    );
  const standings = (blocks: OwnBlock[]) =>
    ranked(blocks).map((bullet) => [entryOf(bullet).text.slice(2, 8), bullet.sessions, bullet.newest.slice(8, 10)]);
  assert.deepEqual(standings(of(reference('one', '01'), reference('two', '20'))), [
    ['a pers', Number.POSITIVE_INFINITY, '20'],
    ['both [', 2, '20'],
    ['second', 1, '20'],
    ['a sess', 1, '20'],
    ['first ', 1, '01'],
  ]);
  assert.deepEqual(
    standings(of(reference('one', '01'))).map(([, sessions, day]) => [sessions, day]),
    [
      [Number.POSITIVE_INFINITY, '01'],
      [2, '01'],
      [1, '01'],
      [1, '01'],
      [1, '01'],
    ],
  );
});
