import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { type AtHand, openAtHand } from '../../scripts/check/repositories.ts';
import { check } from '../../scripts/check/run.ts';
import { sarifOf } from '../../scripts/check/sarif.ts';
import { parseAllowances } from '../../scripts/check/silence.ts';
import type { Tree } from '../../scripts/check/tree.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { openState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { getThread, upsertThread } from '../../scripts/state/threads.ts';
import { aMemory } from '../support/memories.ts';
import { command } from '../support/nights.ts';
import { aRepository, commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { alone, handbook, sampleTree, state } from '../support/sample-memory.ts';

const etlThread = '01a229b1-c5f6-7ca0-8a1d-0d4b795e591b';
const etl = shortThreadId(etlThread);
let tree: Tree;

before(async () => {
  tree = await sampleTree();
});

function withLine(line: string, section = 'Reusable knowledge'): Tree {
  const text = tree.files.get(handbook) ?? '';
  const at = text.indexOf(`## ${section}\n`, text.indexOf('# Task Group: git.example.test/acme/etl-job'));
  const from = at + `## ${section}\n`.length;
  return {
    ...tree,
    files: new Map([...tree.files, [handbook, `${text.slice(0, from)}${line}\n${text.slice(from)}`]]),
  };
}

function anEtlJob(t: TestContext, files: Readonly<Record<string, string>>): string {
  const dir = aRepository(t, files);
  git(dir, 'remote', 'add', 'origin', 'git@git.example.test:acme/etl-job.git');
  return dir;
}

async function stateAt(commit: string): Promise<string> {
  const known = await openState(tree.files.get(state) ?? '');
  const thread = getThread(known, etlThread) ?? assert.fail();
  upsertThread(known, { ...thread, commit });
  return snapshotOf(known);
}

test('files and names of lines are fresh, changed or gone in the repository, which needs no checkout', async (t) => {
  const dir = anEtlJob(t, { 'fetch.py': 'def fetch_all(): pass\n', 'old.py': 'x = 1\n', 'same.py': 'y = 1\n' });
  const session = git(dir, 'rev-parse', 'HEAD');
  writeFiles(dir, { 'fetch.py': 'def fetch_rows(): pass\n' });
  git(dir, 'rm', '--quiet', 'old.py');
  commitAll(dir, 'Since');
  const bare = join(temporaryFolder(t), 'bare.git');
  git(dir, 'clone', '--quiet', '--bare', dir, bare);
  git(bare, 'remote', 'set-url', 'origin', 'https://git.example.test/acme/etl-job.git');
  const line = `- \`fetch.py\`, \`old.py\`, \`same.py\`, \`fetch_all()\`, \`none/at/all.py\` belong together [${etl}@49]`;
  const now = withLine(line);
  const { files } = now;
  const basis = { ...alone, stateOfRef: await stateAt(session), lastNight: tree.files };
  const report = await check({ ...now, files }, { ...basis, repositories: [await openAtHand(bare, env)] });
  const gone = report.findings.filter(({ rule }) => rule === 'source.gone');
  assert.deepEqual(
    gone.map(({ severity, message }) => `${severity} ${/“(.+?)”/.exec(message)?.[1]}`),
    ['warning fetch_all()', 'warning old.py'],
  );
  assert.ok((report.freshness?.fresh ?? 0) >= 1 && (report.freshness?.changed ?? 0) >= 1);
  assert.equal(report.freshness?.gone, 2);
});

async function aboutInstructions(at: AtHand, line: string): Promise<string[]> {
  const now = withLine(line, 'User preferences');
  const { findings } = await check(now, { ...alone, lastNight: tree.files, repositories: [at] });
  return findings
    .filter(({ rule }) => rule.startsWith('instructions.'))
    .map(({ severity, rule }) => `${severity} ${rule}`);
}

test('the repository’s own instructions win, unless the memory is a person’s words and newer', async (t) => {
  const dir = anEtlJob(t, {
    'AGENTS.md': '# Rules\n\n- Always add the changelog entry first.\n- Keep the retry limit at 3 tries.\n',
    'sub/CLAUDE.md': 'Use poetry over pip here.\n',
  });
  const old = await openAtHand(dir, env);
  assert.deepEqual(await aboutInstructions(old, `- Never add the changelog entry first [${etl}@35]`), [
    'warning instructions.contradicts',
  ]);
  assert.deepEqual(await aboutInstructions(old, '- Use pip over poetry here'), ['error instructions.contradicts']);
  assert.deepEqual(await aboutInstructions(old, '- Keep the retry limit at 5 tries'), [
    'error instructions.contradicts',
  ]);
  assert.deepEqual(await aboutInstructions(old, '- Always add the changelog entry first'), [
    'warning instructions.repeats',
  ]);
  assert.deepEqual(await aboutInstructions(old, '- Ask Kim before a release'), []);
});

test('a finding is silenced with a reason by a file beside the code; what must not be silenced is refused', async () => {
  const now = withLine(`- **bold** words about it [${etl}@49]`);
  const allowances = parseAllowances(
    'allow:\n  - rule: bullet.bold\n    words: about it\n    because: our style guide sets names in bold\n  - rule: bullet.marker\n    because: nobody needs this one\n',
  );
  const report = await check(now, { ...alone, lastNight: tree.files, allowances });
  assert.deepEqual(report.findings, []);
  assert.deepEqual(
    report.silenced.map(({ finding, because }) => [finding.rule, because]),
    [['bullet.bold', 'our style guide sets names in bold']],
  );
  assert.deepEqual(
    report.unused.map(({ rule, line }) => [rule, line]),
    [['bullet.marker', 5]],
  );
  assert.deepEqual(parseAllowances(null), []);
  for (const [text, why] of [
    ['allow:\n  - rule: secret.*\n    because: it is only a test key\n', /line 2: secret\.\* cannot be silenced/],
    ['allow:\n  - rule: text.hidden\n    because: it is only a test key\n', /cannot be silenced/],
    ['allow:\n  - rule: bullet.bald\n    because: it is only a test key\n', /line 2: rule names no rule/],
    ['allow:\n  - rule: bullet.bold\n    because: so\n', /at least ten characters/],
    ['allow:\n  - rule: bullet.bold\n    until: 2030\n    because: it is only a test key\n', /until is unknown/],
    ['deny: []\n', /deny is unknown/],
    ['allow: all\n', /with a list/],
    ['allow: [', /line 1/],
  ] as const)
    assert.throws(() => parseAllowances(text), why);
});

test('SARIF names each rule once, points into the file, and suppresses what is silenced', async () => {
  const now = withLine(`- **bold** “never said at all so” [${etl}@35]`);
  const allowances = parseAllowances('allow: [{rule: bullet.bold, because: our style sets names in bold}]');
  const report = await check(now, { ...alone, base: tree, allowances });
  const sarif = JSON.parse(JSON.stringify(sarifOf(report))) as Sarif;
  assert.equal(sarif.version, '2.1.0');
  const [run] = sarif.runs;
  const rules = run?.tool.driver.rules ?? [];
  assert.deepEqual(
    rules.map(({ id }) => id),
    ['bullet.bold', 'evidence.quote'],
  );
  assert.ok(rules.every(({ shortDescription, help }) => shortDescription.text !== '' && help.text !== ''));
  for (const { ruleId, ruleIndex, level, message, locations, baselineState } of run?.results ?? []) {
    assert.equal(rules[ruleIndex]?.id, ruleId);
    assert.ok(['error', 'warning'].includes(level) && message.text !== '');
    const [{ physicalLocation } = assert.fail()] = locations;
    assert.equal(physicalLocation.artifactLocation.uri, handbook);
    assert.ok(Number.isInteger(physicalLocation.region.startLine) && physicalLocation.region.startLine >= 1);
    assert.equal(baselineState, 'new');
  }
  const suppressed = run?.results.filter(({ suppressions }) => suppressions !== undefined) ?? [];
  assert.deepEqual(
    suppressed.map(({ ruleId, suppressions }) => [ruleId, suppressions?.[0]?.kind]),
    [['bullet.bold', 'external']],
  );
});

interface Sarif {
  readonly version: string;
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly name: string;
        readonly rules: readonly { readonly id: string; readonly shortDescription: Text; readonly help: Text }[];
      };
    };
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: Text;
      readonly baselineState?: string;
      readonly suppressions?: readonly { readonly kind: string; readonly justification: string }[];
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: { readonly startLine: number };
        };
      }[];
    }[];
  }[];
}

interface Text {
  readonly text: string;
}

test('--fix mends what code can mend, and what is left is judged; --base tells old from new; files are written', async (t) => {
  const repo = await aMemory(t);
  const text = readFileSync(join(repo, handbook), 'utf8');
  const hidden = text.replace('## User preferences\n- ', '## User preferences\n* \u200b');
  assert.notEqual(hidden, text);
  writeFileSync(join(repo, handbook), hidden);
  const folder = temporaryFolder(t);
  const files = ['--markdown', join(folder, 'check.md'), '--sarif', join(folder, 'check.sarif')];
  const broken = await command('check', ['--repo', repo, '--base', 'main', '--annotations', ...files]);
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /error text\.hidden/);
  assert.match(broken.stderr, /^::error file=memories\/MEMORY\.md,line=\d+,title=text\.hidden::/m);
  assert.match(readFileSync(join(folder, 'check.md'), 'utf8'), /### Brought by this change/);
  assert.equal(JSON.parse(readFileSync(join(folder, 'check.sarif'), 'utf8')).version, '2.1.0');
  const mended = await command('check', ['--repo', repo, '--fix']);
  assert.deepEqual([mended.code, mended.stderr.trim()], [0, 'mended: memories/MEMORY.md']);
  assert.equal(readFileSync(join(repo, handbook), 'utf8'), text);
});

test('--base takes a folder or a branch, an old finding passes, and wrong flags say what they take', async (t) => {
  const repo = await aMemory(t);
  const text = readFileSync(join(repo, handbook), 'utf8');
  writeFileSync(join(repo, handbook), `${text}\n<<<<<<< ours\n`);
  commitAll(repo, 'Half of a merge');
  const old = await command('check', ['--repo', repo, '--committed', '--base', repo]);
  assert.equal(old.code, 0);
  assert.match(old.stdout, /warning text\.conflict: .+ \(there before\)/);
  for (const [args, why] of [
    [['--base', 'no-such-branch'], /--base does not take/],
    [['--fix', '--committed'], /exclude each other/],
    [['--explain', 'no.rule'], /There is no rule no\.rule/],
    [['--repository', temporaryFolder(t)], /no Git repository/],
    [['--sarif', join(repo, 'none/x.sarif')], /cannot be written/],
  ] as const) {
    const { code, stderr } = await command('check', ['--repo', repo, ...args]);
    assert.ok(code === 1 || code === 2, String(code));
    assert.match(stderr, why);
  }
  const explained = await command('check', ['--explain', 'evidence.hedge']);
  assert.match(
    explained.stdout,
    /^evidence\.hedge\n {2}means .+\n {2}example .+\n {2}remedy .+\n {2}silence .+memory-check\.yml/,
  );
});
