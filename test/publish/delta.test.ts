import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deltaOf } from '../../scripts/publish/delta.ts';
import { type DeltaFacts, emptyScope, type ScopeDelta } from '../../scripts/publish/delta-types.ts';
import type { Files } from '../../scripts/shared/files.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { lineHash } from '../../scripts/workspace/lines.ts';
import { a, aBlock, aWorkspace, b, c, first, foreign, otherRepo, repo, second } from '../workspace/samples.ts';

const nothing: DeltaFacts = { isTombstoned: () => false, isPersonLine: () => false };
const all = [first, second, foreign];

/** One block that holds these lines and no others. */
function lines(knowledge: string[], over: Parameters<typeof aBlock>[0] = {}): string {
  return aBlock({ preferences: [], failures: [], knowledge, ...over });
}

function delta(before: string, after: string, facts: Partial<DeltaFacts> = {}, threads: readonly string[] = all) {
  return deltaOf(aWorkspace(before, all), aWorkspace(after, threads), { ...nothing, ...facts });
}

/** The counts that are not zero, by scope. */
function counts(...given: Parameters<typeof delta>) {
  return Object.fromEntries(delta(...given).scopes.map((scope) => [scope.scope, told(scope)]));
}

function told({ scope, persons, skills, ...rest }: ScopeDelta) {
  const flat = { ...rest, kept: persons.kept, lost: persons.gone, skillsAdded: skills.added };
  return Object.fromEntries(Object.entries(flat).filter(([, n]) => n !== 0));
}

const port = `- the tests need port 5432 [${a}@3]`;
const seed = `- seed the database before the first run [${a}@5]`;

test('equal memories differ in nothing, and no scope is named', () => {
  assert.deepEqual(delta(lines([port]), lines([port])), { scopes: [], files: [] });
  assert.deepEqual(deltaOf(new Map(), new Map(), nothing), { scopes: [], files: [] });
});

test('a first memory is learned line by line, in the scope of each block', () => {
  const after = `${lines([port, seed])}\n${lines([`- ship on Mondays [${c}@1]`], { repo: otherRepo, thread: foreign })}`;
  assert.deepEqual(counts('', after), { [otherRepo]: { learned: 1 }, [repo]: { learned: 2 } });
});

test('a line that moved to another heading, block or scope is not learned', () => {
  const before = lines([port, seed]);
  assert.deepEqual(counts(before, aBlock({ preferences: [], failures: [port], knowledge: [seed] })), {
    [repo]: { moved: 1 },
  });
  const split = `${lines([port])}\n${lines([seed], { title: 'The database' })}`;
  assert.deepEqual(counts(before, split), { [repo]: { moved: 1 } });
  const everywhere = `${lines([port])}\n${lines([seed], { title: 'All', repo: '*' })}`;
  assert.deepEqual(counts(before, everywhere), { '*': { moved: 1 } });
});

test('equal lines of two blocks are each found in their own, in whatever order the blocks stand', () => {
  const build = lines([port], { title: 'The build' });
  const tests = lines([port], { title: 'The tests' });
  assert.deepEqual(counts(`${build}\n${tests}`, `${tests}\n${build}`), {});
});

test('a line that also stands in another scope now is learned there, and has not moved', () => {
  const after = `${lines([port])}\n${lines([port], { title: 'All', repo: '*' })}`;
  assert.deepEqual(counts(lines([port]), after), { '*': { learned: 1 } });
});

test('a line with further evidence is confirmed, one with less is not told', () => {
  assert.deepEqual(counts(lines([port]), lines([`- the tests need port 5432 [${a}@3] [${b}@1]`])), {
    [repo]: { confirmed: 1 },
  });
  assert.deepEqual(counts(lines([`- the tests need port 5432 [${a}@3,9]`]), lines([port])), {});
});

test('another marker, case or width of space is no change', () => {
  assert.deepEqual(counts(lines([port]), lines([`*  The tests  need PORT 5432 [${a}@3]`])), {});
});

test('the same in other words is changed, whether its words or its evidence tell', () => {
  assert.deepEqual(counts(lines([port]), lines([`- the tests need port 5433 [${b}@1]`])), { [repo]: { changed: 1 } });
  assert.deepEqual(counts(lines([port]), lines([`- Postgres listens elsewhere [${a}@3]`])), { [repo]: { changed: 1 } });
});

test('near words in another repository are a coincidence unless they share evidence', () => {
  const before = lines([port]);
  const other = (evidence: string) =>
    lines([`- the tests need port 5433 [${evidence}]`], { repo: otherRepo, thread: foreign });
  assert.deepEqual(counts(before, other(`${c}@1`)), { [otherRepo]: { learned: 1 }, [repo]: { unexplained: 1 } });
  assert.deepEqual(counts(before, other(`${a}@3`)), { [otherRepo]: { changed: 1, moved: 1 } });
});

test('a line that a new one replaces is superseded by correction, and the new one is learned', () => {
  const after = lines([`- Postgres was given up for SQLite [${a}@3] [${b}@7]`]);
  assert.deepEqual(counts(lines([port]), after), { [repo]: { learned: 1, corrected: 1 } });
});

test('a line that a new one says it supersedes is corrected, whatever the new one rests on', () => {
  const after = lines([`- Postgres was given up for SQLite (supersedes ${a}@3) [${b}@7]`]);
  assert.deepEqual(counts(lines([port]), after), { [repo]: { learned: 1, corrected: 1 } });
});

test('lines that became one are merged', () => {
  const one = lines([`- prepare it all with make ready [${a}@3,5]`]);
  assert.deepEqual(counts(lines([port, seed]), one), { [repo]: { learned: 1, merged: 2 } });
  const kept = lines([`- the tests need port 5432 [${a}@3,5]`]);
  assert.deepEqual(counts(lines([port, seed]), kept), { [repo]: { confirmed: 1, merged: 1 } });
});

test('a line whose evidence a person hid is forgotten on their word, whatever else cites it', () => {
  const isTombstoned = (thread: string, item: string, scope: string) => thread === a && item === '3' && scope === repo;
  assert.deepEqual(counts(lines([port, seed]), lines([seed]), { isTombstoned }), { [repo]: { tombstoned: 1 } });
});

test('a line whose sessions left the inputs is forgotten for that', () => {
  assert.deepEqual(counts(lines([port, seed]), lines([seed]), {}, [second, foreign]), { [repo]: { inputLeft: 1 } });
});

test('a line that went without a reason is told as such', () => {
  assert.deepEqual(counts(lines([port, seed]), lines([seed])), { [repo]: { unexplained: 1 } });
  assert.deepEqual(counts(lines([port, '- no evidence at all']), lines([port]), {}, []), {
    [repo]: { unexplained: 1 },
  });
});

test('twice the same line is one line more', () => {
  assert.deepEqual(counts(lines([port]), lines([port, port])), { [repo]: { learned: 1 } });
  assert.deepEqual(counts(lines([port, port]), lines([port])), { [repo]: { unexplained: 1 } });
});

test('quotes that no session holds are counted where they are new', () => {
  const quote = `- “always rebase” (unverified) [${b}@1]`;
  assert.deepEqual(counts(lines([port]), lines([port, quote])), { [repo]: { learned: 1, unverified: 1 } });
  assert.deepEqual(counts(lines([port, quote]), lines([port, quote])), {});
});

test('lines of people are counted: what stands, also as prose, and what does not', () => {
  const theirs = new Set(['- ask Kim', 'Mind the gap.'].map(lineHash));
  const facts = { isPersonLine: (_: string, hash: string) => theirs.has(hash) };
  const before = `${lines([port, '- ask Kim'])}\nMind the gap.\n`;
  assert.deepEqual(counts(before, `${before}\n${lines([seed], { title: 'More' })}`, facts), {
    [repo]: { learned: 1, kept: 2 },
  });
  assert.deepEqual(counts(before, lines([port]), facts), { [repo]: { unexplained: 1, lost: 2 } });
});

test('a section of people that names no repository is told without a name', () => {
  assert.deepEqual(counts('', '# House rules\n- be kind\n'), { '': { learned: 1 } });
});

test('skills are counted by scope, files with what happened to them', () => {
  const skill = (text: string): [string, string] => [
    'memories/skills/deploy/SKILL.md',
    `---\nname: deploy\ndescription: x\nmetadata:\n  repo: ${repo}\n---\n${text}\n`,
  ];
  const of = (files: Files, ...more: [string, string][]) => new Map([...files, ...more]);
  const before = of(aWorkspace(lines([port]), [first]));
  const after = of(aWorkspace(lines([port, seed]), [first, second]), skill('run it'));
  const { scopes, files } = deltaOf(before, after, nothing);
  assert.deepEqual(scopes, [{ ...emptyScope(repo), learned: 1, skills: { added: 1, changed: 0, removed: 0 } }]);
  assert.deepEqual(
    files.map(({ path, change, generated }) => `${change} ${path.split('/').at(-1)}${generated ? ' (generated)' : ''}`),
    [
      'changed MEMORY.md',
      'changed raw_memories.md (generated)',
      'added 2026-11-29T23-33-20-0002-fix.md (generated)',
      'added SKILL.md',
    ],
  );
  const gone = deltaOf(after, before, nothing);
  assert.deepEqual(gone.scopes[0]?.skills, { added: 0, changed: 0, removed: 1 });
  assert.deepEqual(gone.files.at(-1), { path: skill('')[0], change: 'removed', generated: false });
});

test('four thousand lines that all changed end soon, and every one is accounted for', () => {
  const many = (word: string) =>
    Array.from({ length: 4_000 }, (_, at) => `- step ${at} of the ${word} plan needs tool ${at * 7} [${a}@${at + 1}]`);
  const [scope] = delta(lines(many('old')), lines(many('new')), {}).scopes;
  assert.equal((scope?.changed ?? 0) + (scope?.learned ?? 0), 4_000);
  assert.equal(scope?.learned, (scope?.corrected ?? 0) + (scope?.merged ?? 0) + (scope?.unexplained ?? 0));
});

test('the handbook of a file that is none is empty', () => {
  assert.deepEqual(deltaOf(new Map([[handbookPath, '\u0000 no handbook']]), new Map(), nothing).scopes, []);
});

test('a line that people had removed and another session teaches again is told as such', () => {
  const wasRemoved = (scope: string, hash: string) => scope === repo && hash === lineHash(port);
  assert.deepEqual(counts('', lines([`- the tests need port 5432 [${b}@7]`, seed]), { wasRemoved }), {
    [repo]: { learned: 2, relearned: 1 },
  });
});
