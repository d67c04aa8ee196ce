import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitAll, git, writeFiles } from '../support/repository.ts';
import { emptyTree, type Fault, findsEach, today } from '../support/set-ups.ts';
import { edit } from '../support/team.ts';

const config = '.github/memory.yml';

const daysLater = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString();

/** Faults of the clone and of what it holds, each with every line that the doctor says of it; no server is asked. */
const faults: readonly Fault[] = [
  ['nothing', () => undefined, []],
  [
    'a clone that does not merge the published copy',
    ({ clone }) => {
      git(clone, 'config', '--remove-section', 'merge.memory-state');
    },
    [/^warning +clone\.merge_driver +This clone has no driver\. .* → npm run merge-driver -- install$/],
  ],
  [
    'merge attributes without a line for it',
    ({ clone }) => edit(clone, '.gitattributes', (text) => text.replaceAll('merge=memory-state', '')),
    [/^warning +clone\.merge_driver +\.gitattributes does not give state\.sqlite\.json to the driver/],
  ],
  [
    'a shallow clone',
    ({ clone }) => {
      writeFileSync(join(clone, '.git/shallow'), `${git(clone, 'rev-parse', 'HEAD')}\n`);
    },
    [/^warning +clone\.shallow +This clone is shallow\. .* → git fetch --unshallow/],
  ],
  [
    'a checkout with CRLF',
    ({ clone, team }) => {
      git(clone, 'fetch', '--quiet', team.dir, 'memory/nightly');
      git(clone, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
      edit(clone, 'memories/MEMORY.md', (text) => text.replaceAll('\n', '\r\n'));
    },
    [
      /^warning +clone\.crlf +1 files of the memory are checked out with CRLF, such as memories\/MEMORY\.md\. .* → .*text=auto eol=lf/,
    ],
  ],
  [
    'mistakes in the configuration',
    ({ clone }) => edit(clone, config, (text) => `${text}budget: { minutes: 0 }\ncolour: red\n`),
    [
      /^error +settings +\.github\/memory\.yml, line \d+: budget\.minutes /,
      /^error +settings +.*line \d+: colour is no key/,
    ],
  ],
  [
    'a configuration that is switched off and delivers nowhere',
    ({ clone }) => edit(clone, config, (text) => `${text.replace('model: { provider: builtin }', '')}enabled: false\n`),
    [/^error +settings\.delivery .* → Write model: \{ provider: builtin \}/, /^warning +settings\.enabled /],
  ],
  [
    'includes that are empty, or match nothing',
    ({ clone }) => edit(clone, config, (text) => text.replace('acme/*]', 'acme/app-1, git.example.test/acne/*]')),
    [/^warning +memory\.include +include names git\.example\.test\/acne\/\*, .* → .*npm run status/],
  ],
  [
    'nothing included',
    ({ clone }) => edit(clone, config, (text) => text.replace('[git.example.test/acme/*]', '[]')),
    [/^error +settings\.include +No repository is included\. /],
  ],
  [
    'a lock without a word',
    ({ clone }) => writeFiles(clone, { '.git/memory/night.lock': '' }),
    [/^error +lock\.dead .* does not say who holds it\. .* → rm '.*night\.lock'$/],
  ],
  [
    'a lock of another machine, long ago',
    ({ clone }) =>
      writeFiles(clone, {
        '.git/memory/night.lock': '{"host":"gone","pid":7,"started":"2026-11-20T03:17:00Z","note":"nightly"}\n',
      }),
    [/^error +lock\.dead +The night’s lock is held by process 7 on gone .*longer than any night\. .* → rm '/],
  ],
  [
    'a schedule that does not run',
    () => undefined,
    [
      /^warning +schedule\.quiet +The last night that left anything was 6 days ago\. .* → gh run list --workflow nightly\.yml/,
    ],
    { at: daysLater(5) },
  ],
  [
    'a summary that no agent reads',
    () => undefined,
    [
      /^warning +schedule\.quiet /,
      /^warning +memory\.no_reader +No agent has cited the memory in 30 days\. .* → .*memories\/memory_summary\.md/,
    ],
    { at: daysLater(7) },
  ],
  [
    'a summary that is nearly full',
    ({ clone }) => {
      writeFiles(clone, { 'memories/memory_summary.md': `v1\n${'A long line. '.repeat(400)}\n` });
      commitAll(clone, 'A long summary');
    },
    [/^warning +memory\.summary_budget +memories\/memory_summary\.md has 5204 of 5500 characters\. /],
  ],
  [
    'a summary over its budget',
    ({ clone }) => {
      writeFiles(clone, { 'memories/memory_summary.md': `v1\n${'A long line. '.repeat(500)}\n` });
      commitAll(clone, 'A longer summary');
    },
    [/^error +memory\.summary_budget /],
  ],
  [
    'a state that is damaged',
    ({ clone }) => {
      const broken = git(clone, 'commit-tree', '-p', 'refs/memory/state', '-m', 'broken', emptyTree);
      git(clone, 'update-ref', 'refs/memory/state', broken);
    },
    [/^error +state +The state's commit holds no state\.sqlite\.json/],
  ],
];

test('without asking a server each fault of a clone and of its memory is found, alone, with its remedy', (t) =>
  findsEach(t, faults, ['--offline']));
