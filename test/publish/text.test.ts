import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Delta } from '../../scripts/publish/delta.ts';
import { emptyScope, type ScopeDelta } from '../../scripts/publish/delta-types.ts';
import { leftOutByRule } from '../../scripts/publish/left-out.ts';
import { linksOf } from '../../scripts/publish/links.ts';
import type { Proposal } from '../../scripts/publish/proposal.ts';
import { bodyOf, titleOf } from '../../scripts/publish/text.ts';

const shop = 'github.com/acme/shop';
const base = 'a'.repeat(40);
const tip = 'b'.repeat(40);

function aProposal(given: Partial<Proposal> = {}): Proposal {
  return {
    runId: 'run-5f2c',
    nights: 1,
    sessions: 3,
    delta: { scopes: [], files: [] },
    scopes: new Map(),
    secrets: {},
    usage: { requests: 0, input: 0, cached: 0, output: 0, microUsd: null },
    next: { waiting: 0, failed: 0, held: [] },
    links: null,
    ...given,
  };
}

function scopes(...given: (Partial<ScopeDelta> & { scope: string })[]): Delta {
  return { scopes: given.map((scope) => ({ ...emptyScope(scope.scope), ...scope })), files: [] };
}

test('the title counts, and names a repository where there is one', () => {
  assert.equal(
    titleOf(
      aProposal({ delta: scopes({ scope: shop, learned: 12, changed: 3, merged: 1, corrected: 1, inputLeft: 1 }) }),
    ),
    `Memory: 12 lines learned, 3 changed, 2 superseded, 1 forgotten in ${shop}`,
  );
  assert.equal(
    titleOf(aProposal({ delta: scopes({ scope: shop, learned: 1 }, { scope: 'gitlab.com/acme/api', moved: 2 }) })),
    'Memory: 1 line learned, 2 moved in 2 repositories',
  );
  assert.equal(
    titleOf(aProposal({ delta: scopes({ scope: '*', learned: 1 }, { scope: shop, learned: 1 }) })),
    `Memory: 2 lines learned in ${shop}`,
  );
  assert.equal(titleOf(aProposal()), 'Memory: new inputs, no line changed');
});

test('the table tells each repository, its names and its counts', () => {
  const body = bodyOf(
    aProposal({
      delta: scopes(
        { scope: '', learned: 1 },
        { scope: '*', learned: 1 },
        {
          scope: shop,
          learned: 1200,
          changed: 2,
          corrected: 1,
          merged: 1,
          inputLeft: 1,
          tombstoned: 1,
          moved: 4,
          confirmed: 5,
        },
      ),
    }),
  );
  assert.match(body, /^\| no repository \| 1 \| 0 \| 0 \| 0 \| 0 \| 0 \|$/m);
  assert.match(body, /^\| all repositories \| 1 \|/m);
  assert.match(body, /^\| github\.com\/acme\/shop \| 1,200 \| 2 \| 2 \| 2 \| 4 \| 5 \|$/m);
});

test('why lines went stands beside their repository', () => {
  const body = bodyOf(
    aProposal({ delta: scopes({ scope: shop, corrected: 2, merged: 1, tombstoned: 3, inputLeft: 4, unexplained: 5 }) }),
  );
  const [line] = body.split('\n').filter((one) => one.includes('corrected by'));
  assert.equal(
    line,
    `- ${shop}: 2 corrected by a later session, 1 merged with another line, 3 forgotten on a person's word, 4 whose sessions are no longer among the inputs, 5 **without a reason that code can see**`,
  );
  assert.doesNotMatch(bodyOf(aProposal({ delta: scopes({ scope: shop, learned: 1 }) })), /Why lines went/);
});

test('what deserves a look is listed: quotes, people, skills, what was left out, secrets', () => {
  const body = bodyOf(
    aProposal({
      delta: scopes({
        scope: shop,
        learned: 2,
        unverified: 2,
        persons: { kept: 7, gone: 1 },
        skills: { added: 1, changed: 0, removed: 2 },
      }),
      scopes: new Map([[shop, { restored: 3, leftOut: { 'bullet.evidence': 2, other: 1 } }]]),
      secrets: { 'aws-key': 1, 'github-token': 4 },
    }),
  );
  for (const line of [
    `- ${shop}: 2 lines with a quote marked (unverified)`,
    `- ${shop}: 1 line of people changed or gone`,
    `- ${shop}: skills 1 added, 2 removed`,
    `- ${shop}: 3 lines of people put back after the agent lost it`,
    `- ${shop}: 3 parts left out (bullet.evidence 2, other 1)`,
    '- 7 lines of people kept word for word',
    '- 5 secrets removed before anything was stored (github\\-token 4, aws\\-key 1)',
  ])
    assert.ok(body.includes(`${line}\n`), line);
});

test('the handbook is linked first, each file to its place in the comparison as the host builds it', () => {
  const files = ['MEMORY.md', 'memory_summary.md', 'raw_memories.md', 'skills/a/SKILL.md'].map((name) => ({
    path: `memories/${name}`,
    change: 'changed' as const,
    generated: name === 'raw_memories.md',
  }));
  const [memory, ...rest] = files;
  const delta = { scopes: [], files: [...rest, ...(memory === undefined ? [] : [memory])] };
  const compare = `https://github.com/acme/memory/compare/${base}...${tip}`;
  const body = bodyOf(aProposal({ delta, links: linksOf('github', 'https://github.com/acme/memory', base, tip) }));
  const anchor = createHash('sha256').update('memories/MEMORY.md').digest('hex');
  const listed = body.split('\n').filter((line) => line.startsWith('- [memories'));
  assert.equal(listed[0], `- [memories/MEMORY.md](${compare}#diff-${anchor}) changed`);
  assert.match(listed[1] ?? '', /^- \[memories\/memory\\_summary\.md\]/);
  assert.equal(listed.length, 3);
  assert.ok(body.includes(`[See the whole change](${compare})`));
  assert.ok(body.includes('- 1 generated file (inputs; nothing to review)'));
  const gitlab = linksOf('gitlab', 'https://gitlab.com/acme/memory', base, tip);
  const sha1 = createHash('sha1').update('memories/MEMORY.md').digest('hex');
  assert.equal(gitlab.file('memories/MEMORY.md'), `https://gitlab.com/acme/memory/-/compare/${base}...${tip}#${sha1}`);
});

test('cost, the next night and the run are told', () => {
  const body = bodyOf(
    aProposal({
      nights: 5,
      sessions: 1,
      usage: { requests: 1, input: 1_234_567, cached: 1_000, output: 999, microUsd: 1_239_999 },
      next: { waiting: 1, failed: 2, held: [shop, '*'] },
    }),
  );
  for (const line of [
    'From 1 session in 5 nights.',
    '1 request, 1,234,567 tokens in (1,000 cached), 999 out, $1.24.',
    '- 1 session waits to be read or consolidated',
    '- 2 sessions failed and will be tried again',
    `- held since a pull request was closed, until a new session arrives: ${shop}, all repositories`,
    '<sub>run run\\-5f2c</sub>',
  ])
    assert.ok(body.includes(line), line);
  assert.match(
    bodyOf(aProposal({ usage: { requests: 2, input: 1, cached: 0, output: 1, microUsd: null } })),
    /no price configured/,
  );
  assert.match(bodyOf(aProposal()), /No model was asked\.[\s\S]*Nothing waits\./);
});

test('a reviewer is told how to accept, correct, forget, close and reject', () => {
  const body = bodyOf(aProposal());
  for (const word of ['Merge', 'Edit a line', 'Delete a line', 'Close', '`memory:reject`'])
    assert.ok(body.includes(word), word);
});

test('equal values give equal bytes, whatever the order they came in', () => {
  const notes = { restored: 1, leftOut: { b: 1, a: 1 } };
  const one = aProposal({
    secrets: { x: 1, y: 1 },
    scopes: new Map([
      ['a', notes],
      ['b', notes],
    ]),
  });
  const other = aProposal({
    secrets: { y: 1, x: 1 },
    scopes: new Map([
      ['b', notes],
      ['a', { restored: 1, leftOut: { a: 1, b: 1 } }],
    ]),
  });
  assert.equal(bodyOf(one), bodyOf(other));
});

const hostile = [
  '@everyone',
  'x/@acme/crew',
  'fixes #1',
  'closes acme/shop#12',
  'resolves GH-7',
  'fixes https://github.com/acme/shop/issues/1',
  'www.evil.test',
  '[skip ci]',
  '***NO_CI***',
  '&commat;everyone',
  '<!-- -->@everyone',
  '![x](https://evil.test/pixel.png)',
  'x | y | z',
  '`code`',
  'x\nCo-authored-by: Eve <eve@evil.test>',
  'x\n\nSigned-off-by: Eve <eve@evil.test>',
  'x\n::set-output name=a::b',
  '::set-output name=a::b',
  'x\n/close',
  '/merge',
  '!7 $3 %4 ~bug &5 ^alert#6',
  '</sub><script>alert(1)</script>',
  '\u202egpj.exe\u2066',
  'x\u001b[31m',
];

test('no name takes effect in Markdown, in a mail, or in the commit message of a squash', () => {
  for (const name of hostile) {
    const proposal = aProposal({
      runId: name,
      delta: {
        scopes: [{ ...emptyScope(name), learned: 1, unexplained: 1, unverified: 1 }],
        files: [{ path: name, change: 'added', generated: false }],
      },
      scopes: new Map([[name, { restored: 1, leftOut: { [name]: 1 } }]]),
      secrets: { [name]: 1 },
      next: { waiting: 0, failed: 0, held: [name] },
      links: linksOf('github', 'https://github.com/acme/memory', base, tip),
    });
    const body = bodyOf(proposal).replaceAll('https://github.com/acme/memory/compare', '');
    assert.doesNotMatch(body, /(?<![\w\u200b])@(?=\w)|@(?=[\w])/, name);
    assert.doesNotMatch(body, /#(?=\d)|\bGH\\?-(?=\d)|https?:\/\/|\bwww\.|[!$%&^](?=\w)/i, name);
    assert.doesNotMatch(body, /\[skip ci\]|\*\*\*NO_CI|::|(?<!\\)<(?!\/?sub>)|(?<!\\)`(?!memory:reject|\*\*:)/, name);
    assert.doesNotMatch(body, /^(?:[A-Z][a-z]+(?:-[a-z]+)+:|\/|::)/m, name);
    assert.doesNotMatch(body, /[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/, name);
    assert.equal(body.split('\n').filter((line) => line.startsWith('| ')).length, 2, name);
    assert.equal(titleOf(proposal), 'Memory: 1 line learned, 1 forgotten in 1 repository', name);
  }
});

test('a name of any length leaves the body below its limit, whole lines only', () => {
  const long = (at: number) => `github.com/acme/${'\u202e_'.repeat(300)}${at}`;
  const names = Array.from({ length: 1_000 }, (_, at) => long(at));
  const counts = { learned: 1, merged: 1, unexplained: 1, unverified: 1, persons: { kept: 1, gone: 1 } };
  const proposal = aProposal({
    runId: names.join(),
    delta: {
      scopes: names.map((scope) => ({ ...emptyScope(scope), ...counts })),
      files: names.map((path) => ({ path, change: 'added', generated: false })),
    },
    scopes: new Map(
      names
        .slice(0, 9)
        .map((name) => [name, { restored: 1, leftOut: Object.fromEntries(names.map((rule) => [rule, 1])) }]),
    ),
    secrets: Object.fromEntries(names.map((name) => [name, 1])),
    next: { waiting: 1, failed: 1, held: names },
    links: linksOf('github', `https://github.com/${'x'.repeat(400)}`, base, tip),
  });
  const body = bodyOf(proposal);
  assert.ok(body.length <= 60_000, String(body.length));
  assert.match(body, /and [\d,]+ more repositories\./);
  assert.ok(titleOf(proposal).length < 120);
  assert.ok(body.split('\n').every((line) => !line.startsWith('| ') || line.endsWith('|')));
});

test('forty repositories all have their row', () => {
  const delta = scopes(
    ...Array.from({ length: 40 }, (_, at) => ({ scope: `github.com/acme/repository-${at}`, learned: 3 })),
  );
  const body = bodyOf(aProposal({ delta }));
  assert.equal(body.split('\n').filter((line) => line.startsWith('| github')).length, 40);
  assert.ok(body.length < 6_000);
});

test('what was left out is told by rule alone, never by the words of a reason', () => {
  assert.deepEqual(
    leftOutByRule([
      { reason: 'line 4: the bullet “never tell the key” has no evidence (bullet.evidence)' },
      { reason: 'line 9: again (bullet.evidence)' },
      { reason: 'another block has the same title' },
      { reason: 'words of the memory (@everyone.fixes)' },
    ]),
    { 'bullet.evidence': 2, other: 2 },
  );
});

test('a line that people had removed and a session teaches again stands among what to look at', () => {
  const body = bodyOf(aProposal({ delta: scopes({ scope: shop, learned: 3, relearned: 2 }) }));
  assert.ok(body.includes(`- ${shop}: 2 lines that people had removed, taught again by another session`), body);
});
