import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handbookPath, memorySummaryPath, rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { mergeMemories } from '../../scripts/workspace/merge.ts';
import { a, aBlock, aReference, b, first, otherRepo, repo, second } from './samples.ts';

const handbook = (...blocks: string[]) => new Map([[handbookPath, blocks.join('\n')]]);

function merged(base: string, ours: string, theirs: string): string {
  return mergeMemories(handbook(base), handbook(ours), handbook(theirs)).files.get(handbookPath) ?? '';
}

/** A block with these bullets of knowledge. */
function knowing(...knowledge: string[]): string {
  return `# Task Group: The build
scope: building and testing
applies_to: repo=${repo}; cwd=.; reuse_rule=holds for this checkout

## Task 1: Fix the build, success
### rollout_summary_files
${aReference(first)}
### keywords
- build, tests

## Reusable knowledge
${knowledge.join('\n')}
`;
}

const port = `- the tests need port 5432 [${a}@3]`;
const cache = `- clear the cache before a release [${b}@5]`;
const mirror = `- the mirror is slow on Mondays [${b}@7]`;
const lint = '- lint before you push';

test('what only one side changed is as that side has it', () => {
  assert.equal(merged(knowing(port), knowing(port, cache), knowing(port)), knowing(port, cache));
  assert.equal(merged(knowing(port), knowing(port), knowing(lint)), knowing(lint));
});

test('lines that both sides added to one block both stand, people’s first', () => {
  assert.equal(merged(knowing(port), knowing(port, cache), knowing(port, lint)), knowing(port, lint, cache));
  assert.equal(merged(knowing(port), knowing(cache, port), knowing(lint, port)), knowing(lint, cache, port));
});

test('a line that people removed goes, in whatever words, with whatever evidence, wherever we put it', () => {
  const without = knowing(lint, mirror);
  const base = knowing(port, mirror);
  const reworded = `- databases listen on 5432 for tests to pass [${a}@3]`;
  const near = `- the tests all need port 5432 [${a}@3] [${b}@9]`;
  for (const line of [port, port.replace('the', 'The'), `${port} [${b}@8]`, reworded, near])
    assert.equal(merged(base, knowing(line, mirror, cache), without), knowing(lint, mirror, cache));
  const elsewhere = `${knowing(mirror)}\n${aBlock({ title: 'Ports', knowledge: [reworded, port, cache], preferences: [], failures: [] })}`;
  const expected = `${without}\n${aBlock({ title: 'Ports', knowledge: [cache], preferences: [], failures: [] })}`;
  assert.equal(merged(base, elsewhere, without), expected);
});

test('a line that people reworded stands as they wrote it, and our rewording of it goes', () => {
  const theirs = `- the tests need port 5433, ask Kim [${a}@3]`;
  const ours = `- the tests need port 5432 and a database [${a}@3]`;
  assert.equal(
    merged(knowing(port, mirror), knowing(ours, mirror, cache), knowing(theirs, mirror)),
    knowing(theirs, mirror, cache),
  );
  assert.equal(
    merged(knowing(port, mirror), knowing(mirror, cache), knowing(theirs, mirror)),
    knowing(theirs, mirror, cache),
  );
});

test('what people left alone is as we have it: reworded, removed, with more evidence', () => {
  const ours = `- the tests need port 5432 and a database [${a}@3]`;
  assert.equal(
    merged(knowing(port, mirror), knowing(ours, mirror), knowing(port, mirror, lint)),
    knowing(ours, mirror, lint),
  );
  assert.equal(merged(knowing(port, mirror), knowing(mirror), knowing(port, mirror, lint)), knowing(mirror, lint));
  assert.equal(
    merged(knowing(port), knowing(`${port} [${b}@8]`), knowing(port, lint)),
    knowing(`${port} [${b}@8]`, lint),
  );
});

test('a line from other sessions is no rewording, however near its words are', () => {
  const other = `- the tests need port 5433 [${b}@5]`;
  assert.equal(
    merged(knowing(port, mirror), knowing(mirror, other), knowing(mirror, lint)),
    knowing(mirror, lint, other),
  );
});

test('a line that we merged into one that people’s edit refuses is not lost', () => {
  const both = `- the tests need port 5432 and a slow mirror [${a}@3] [${b}@7]`;
  const theirs = `- the tests need port 5433 [${a}@3]`;
  assert.equal(
    merged(knowing(port, mirror), knowing(both, cache), knowing(theirs, mirror)),
    knowing(theirs, cache, mirror),
  );
});

test('a line that people moved stays where they put it', () => {
  const ports = (...knowledge: string[]) => aBlock({ title: 'Ports', knowledge, preferences: [], failures: [] });
  const base = `${knowing(port, mirror)}\n${ports(lint)}`;
  const ours = `${knowing(`- the tests need port 5432 and luck [${a}@3]`, mirror, cache)}\n${ports(lint)}`;
  const theirs = `${knowing(mirror)}\n${ports(lint, port)}`;
  assert.equal(merged(base, ours, theirs), `${knowing(mirror, cache)}\n${ports(lint, port)}`);
  const alsoOurs = `${knowing(mirror, cache)}\n${ports(lint)}\n${aBlock({ title: 'New', knowledge: [port] })}`;
  assert.equal(merged(base, alsoOurs, theirs).split(port).length, 2);
});

test('a block that people deleted goes but for what is new in it', () => {
  const other = aBlock({ title: 'Other', repo: otherRepo });
  const edited = aBlock({ title: 'Other', repo: otherRepo, knowledge: [lint] });
  const base = `${other}\n${knowing(port, mirror)}`;
  assert.equal(merged(base, `${other}\n${knowing(`${port} [${b}@9]`)}`, edited), edited);
  assert.equal(
    merged(base, `${other}\n${knowing(port, mirror, cache)}`, edited),
    `${edited}
# Task Group: The build
scope: building and testing
applies_to: repo=${repo}; cwd=.; reuse_rule=holds for this checkout

## Reusable knowledge
${cache}
`,
  );
});

test('a block that we deleted goes unless people worked on it', () => {
  const other = aBlock({ title: 'Other', repo: otherRepo });
  const edited = aBlock({ title: 'Other', repo: otherRepo, knowledge: [lint] });
  const base = `${other}\n${knowing(port, mirror)}`;
  assert.equal(merged(base, other, `${edited}\n${knowing(port, mirror)}`), edited);
  const text = merged(base, other, `${edited}\n${knowing(port, mirror, '- ask Kim')}`);
  assert.ok(text.includes('- ask Kim') && !text.includes(port) && !text.includes(mirror), text);
  const retitled = knowing(port, mirror).replace('The build', 'Builds of the shop');
  assert.equal(merged(base, other, `${edited}\n${retitled}`), `${edited}\n${retitled}`);
});

test('blocks that both sides added both stand', () => {
  const mine = knowing(cache).replace('The build', 'Mine');
  const people = knowing(lint).replace('The build', 'People’s');
  const base = knowing(port);
  assert.equal(merged(base, `${base}\n${mine}`, `${base}\n${people}`), `${base}\n${people}\n${mine}`);
  assert.equal(merged(base, `${mine}\n${base}`, `${people}\n${base}`), `${people}\n${mine}\n${base}`);
});

test('a renamed block is the same block', () => {
  const renamed = (text: string) => text.replace('The build', 'Builds and releases');
  assert.equal(
    merged(knowing(port), knowing(port, cache), renamed(knowing(port, lint))),
    renamed(knowing(port, lint, cache)),
  );
  assert.equal(
    merged(knowing(port), renamed(knowing(port, cache)), knowing(port, lint)),
    renamed(knowing(port, lint, cache)),
  );
  const moved = (text: string) => text.replace(`repo=${repo}`, `repo=${otherRepo}`);
  assert.equal(merged(knowing(port), knowing(port, cache), moved(knowing(port))), moved(knowing(port, cache)));
});

test('people’s order wins unless we alone reordered', () => {
  const base = knowing(port, cache, mirror);
  assert.equal(
    merged(base, knowing(port, cache, mirror, '- x'), knowing(mirror, port, cache)),
    knowing(mirror, '- x', port, cache),
  );
  assert.equal(
    merged(base, knowing(mirror, port, cache), knowing(port, lint, cache, mirror)),
    knowing(mirror, port, lint, cache),
  );
  assert.equal(merged(base, knowing(cache, port, mirror), knowing(mirror, port, cache)), knowing(mirror, port, cache));
});

test('tasks, references and keywords are united, without what one side removed', () => {
  const task = (number: number, title: string, thread: string, keywords: string) =>
    `## Task ${number}: ${title}\n### rollout_summary_files\n${aReference(thread)}\n### keywords\n- ${keywords}\n`;
  const block = (...tasks: string[]) =>
    `# Task Group: T\nscope: s\napplies_to: repo=${repo}; cwd=.; reuse_rule=r\n\n${tasks.join('\n')}`;
  const one = task(1, 'Build, success', first, 'build, tests');
  assert.equal(
    merged(block(one), block(one, task(2, 'Mine', second, 'mine')), block(one, task(2, 'Theirs', second, 'theirs'))),
    block(one, task(2, 'Theirs', second, 'theirs'), task(2, 'Mine', second, 'mine')),
  );
  assert.equal(
    merged(
      block(one),
      block(one.replace('build, tests', 'tests, ports').replace('success', 'partial')),
      block(one.replace('build, tests', 'Kim, build, tests')),
    ),
    block(one.replace('build, tests', 'Kim, tests, ports').replace('success', 'partial')),
  );
  const two = one.replace('\n### keywords', `\n${aReference(second)}\n### keywords`);
  assert.equal(
    merged(block(one), block(two), block(one.replace('build, tests', 'Kim'))),
    block(two.replace('build, tests', 'Kim')),
  );
  assert.equal(
    merged(block(two), block(two.replace('build, tests', 'x')), block(one)),
    block(one.replace('build, tests', 'x')),
  );
});

test('a new section comes to its place in the schema', () => {
  const preferences = '## User preferences\n- show the log\n';
  const failures = '## Failures and how to do differently\n- ask Kim\n';
  const heading = '## Reusable knowledge';
  const base = knowing(port).split(heading)[0] ?? '';
  assert.equal(merged(base, base + preferences, base + failures), `${base}${preferences}\n${failures}`);
  assert.equal(
    merged(base, base + failures, knowing(port).replace(heading, `${preferences}\n${heading}`)),
    `${knowing(port).replace(heading, `${preferences}\n${heading}`)}\n${failures}`,
  );
});

test('the preamble and people’s own sections are merged by the same rule', () => {
  const text = (preamble: string, note: string, bullets: string[]) =>
    `${preamble}\n\n# Our house\n\n${note}\n\n${knowing(...bullets)}`;
  assert.equal(
    merged(
      text('Hello.', 'Be kind.', [port]),
      text('Hello.', 'Be kind.', [port, cache]),
      text('Hello, team.', 'Be kind.\nAsk Kim.', [port]),
    ),
    text('Hello, team.', 'Be kind.\nAsk Kim.', [port, cache]),
  );
  assert.equal(
    merged(text('Hello.', 'Be kind.', [port]), text('Hello.', 'Be kind.', [port, cache]), knowing(port)),
    knowing(port, cache),
  );
});

test('a code fence is one piece, and one left open covers nothing that was put below it', () => {
  const fence = (body: string) => `\`\`\`sh\n${body}\n\`\`\``;
  const base = `${knowing(port)}\n## Notes\n\n${fence('a\n\nb')}\n`;
  assert.equal(
    merged(base, base.replace(port, `${port}\n${cache}`), base.replace('a\n\nb', 'a\n\nc')),
    base.replace(port, `${port}\n${cache}`).replace('a\n\nb', 'a\n\nc'),
  );
  const open = `${knowing(port)}\n## Notes\n\n\`\`\`\nopen\n`;
  const text = merged(knowing(port), `${knowing(port)}\n# Ours\n\nprose\n`, open);
  assert.equal(text, `${open}\`\`\`\n\n# Ours\n\nprose\n`);
});

test('a block in which we left a code fence open is as people have it, where they changed it', () => {
  const block = (mark: string, ...lines: string[]) =>
    `${knowing(lint)}\n## Notes\n\n\`\`\`\na\n${mark}\n${lines.join('\n')}\n`;
  const base = block('```', port, mirror);
  assert.equal(merged(base, block('``` oops', port, mirror), block('```', mirror)), block('```', mirror));
  const other = aBlock({ title: 'Other', repo: otherRepo });
  assert.equal(merged(base, block('``` oops', port), `${base}\n${other}`), `${block('``` oops', port)}\n${other}`);
});

test('line ends are those of the side that changed them', () => {
  const crlf = (text: string) => text.replace(/\n/g, '\r\n');
  assert.equal(
    merged(knowing(port), knowing(port, cache), crlf(knowing(port, lint))),
    crlf(knowing(port, lint, cache)),
  );
  assert.equal(
    merged(crlf(knowing(port)), crlf(knowing(port, cache)), crlf(knowing(lint))),
    crlf(knowing(lint, cache)),
  );
  assert.equal(merged(crlf(knowing(port)), knowing(port, cache), crlf(knowing(lint))), knowing(lint, cache));
});

test('a handbook that people deleted holds only what is new', () => {
  const none = new Map<string, string>();
  assert.equal(
    mergeMemories(handbook(knowing(port)), handbook(knowing(port).replace('port', 'a port')), none).files.size,
    0,
  );
  const { files } = mergeMemories(handbook(knowing(port)), handbook(knowing(port, cache)), none);
  assert.ok(files.get(handbookPath)?.includes(cache));
  assert.equal(files.get(handbookPath)?.includes(port), false);
});

test('the memory summary is merged within its headings; a repository keeps one line', () => {
  const summary = (tips: string, contents: string) =>
    new Map([
      [
        memorySummaryPath,
        `v1\n\n## User preferences\n\n## General Tips\n${tips}\n\n## What's in Memory\n${contents}\n`,
      ],
    ]);
  const merge = (base: Map<string, string>, ours: Map<string, string>, theirs: Map<string, string>) =>
    mergeMemories(base, ours, theirs);
  const { files, touched } = merge(
    summary('- one', `- ${repo}: builds`),
    summary('- one\n- two', `- ${otherRepo}: apis\n- ${repo}: builds; ports, caches, mirrors, locks`),
    summary('- three', `- ${repo}: builds, says Kim`),
  );
  assert.deepEqual(files, summary('- three\n- two', `- ${otherRepo}: apis\n- ${repo}: builds, says Kim`));
  assert.deepEqual(touched, ['*']);
});

test('what people removed does not come back by way of the scope of all repositories or of the summary', () => {
  const everywhere = aBlock({ title: 'Everywhere', repo: '*', preferences: [], failures: [], knowledge: [port] });
  const base = knowing(port, mirror);
  const text = merged(base, `${base}\n${everywhere}`, knowing(mirror, lint));
  assert.ok(!text.includes('5432') && text.includes(lint), text);
  const ours = new Map([
    ...handbook(base),
    [memorySummaryPath, 'v1\n\n## General Tips\n- the tests need port 5432\n- be brief\n'],
  ]);
  const { files, touched } = mergeMemories(handbook(base), ours, handbook(knowing(mirror, lint)));
  assert.equal(files.get(memorySummaryPath), 'v1\n\n## General Tips\n- be brief\n');
  assert.deepEqual(touched, ['*']);
});

test('skills and other files are taken whole, people’s where they changed them; generated ones are ours', () => {
  const skill = 'memories/skills/x/SKILL.md';
  const note = 'memories/extensions/ad_hoc/notes/n.md';
  const files = (text: string, ...paths: string[]) => new Map(paths.map((path) => [path, text]));
  const skillText = (body: string) => `---\nname: x\ndescription: d\nmetadata:\n  repo: ${repo}\n---\n${body}\n`;
  const both = mergeMemories(files(skillText('1'), skill), files(skillText('2'), skill), files(skillText('3'), skill));
  assert.deepEqual(both, { files: files(skillText('3'), skill), touched: [repo] });
  assert.equal(mergeMemories(files('1', skill, note), files('2', skill, note), new Map()).files.size, 0);
  assert.deepEqual(
    mergeMemories(files('1', skill), files('2', skill, note), files('1', skill)).files,
    files('2', skill, note),
  );
  const generated = mergeMemories(
    files('1', rawMemoriesPath),
    files('2', rawMemoriesPath),
    files('3', rawMemoriesPath, note),
  );
  assert.deepEqual(generated, {
    files: new Map([
      [note, '3'],
      [rawMemoriesPath, '2'],
    ]),
    touched: [],
  });
});

test('only scopes that both sides changed run again', () => {
  const other = (line: string) => aBlock({ title: 'Other', repo: otherRepo, knowledge: [line] });
  const touched = (ours: string, theirs: string) =>
    mergeMemories(handbook(knowing(port), other(lint)), handbook(ours), handbook(theirs)).touched;
  assert.deepEqual(touched(`${knowing(port, cache)}\n${other(lint)}`, `${knowing(port)}\n${other(cache)}`), []);
  assert.deepEqual(touched(`${knowing(port, cache)}\n${other(mirror)}`, `${knowing(mirror)}\n${other(cache)}`), [
    otherRepo,
    repo,
  ]);
  assert.deepEqual(touched(`${knowing(port, cache)}\n${other(lint)}`, `${knowing(port, cache)}\n${other(lint)}`), []);
});

test('five thousand lines that both sides reworded are merged without delay', () => {
  const blocks = (who: string) =>
    Array.from({ length: 50 }, (_, block) =>
      knowing(
        ...Array.from(
          { length: 100 },
          (_, line) => `- ${who} words that all lines share, ${block} ${line} [${a}@${block * 100 + line}]`,
        ),
      ).replace('The build', `Topic ${block}`),
    ).join('\n');
  assert.equal(merged(blocks('old'), blocks('our'), blocks('their')), blocks('their'));
  const section = (who: string) => knowing(...Array.from({ length: 20_000 }, (_, line) => `- ${who} ${line}`));
  const both = merged(section('old'), section('our'), section('their'));
  assert.ok(both.includes('- their 19999\n') && !both.includes('- old 19999\n'));
});
