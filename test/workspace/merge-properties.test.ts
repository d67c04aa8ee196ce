import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byBinary, type Files } from '../../scripts/shared/files.ts';
import { type Block, parseHandbook, scopeOf } from '../../scripts/workspace/handbook.ts';
import { everywhere, handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { type Unit, unitsOf } from '../../scripts/workspace/lines.ts';
import { mergeMemories } from '../../scripts/workspace/merge.ts';
import { outlineHandbook, outlineSummary } from '../../scripts/workspace/merge-outline.ts';
import { renderDocument } from '../../scripts/workspace/merge-render.ts';
import { project, scopesOf, splice, spliceAll } from '../../scripts/workspace/scope.ts';
import { itemsOf } from '../../scripts/workspace/shrink.ts';
import { aDraft, edited, lotsFrom, written } from './merge-samples.ts';

interface Triple {
  readonly seed: number;
  readonly base: Files;
  readonly ours: Files;
  readonly theirs: Files;
}

const triples: readonly Triple[] = Array.from({ length: 300 }, (_, seed) => {
  const lots = lotsFrom(seed);
  const draft = aDraft(lots);
  const [ours, theirs] = [edited(draft, lots, 'ours'), edited(draft, lots, 'theirs')];
  return { seed, base: written(draft), ours: written(ours), theirs: written(theirs) };
});

const merge = ({ base, ours, theirs }: Triple) => mergeMemories(base, ours, theirs).files;

/** By scope the lines that people or an agent wrote in the handbook; headings and fences' marks apart. */
function unitsByScope(files: Files): Map<string, Unit[]> {
  const units = new Map<string, Unit[]>();
  for (const block of parseHandbook(files.get(handbookPath) ?? '').blocks) {
    const scope = scopeOf(block) ?? '';
    units.set(scope, [...(units.get(scope) ?? []), ...unitsIn(block)]);
  }
  return units;
}

function unitsIn(block: Block): Unit[] {
  return unitsOf(block).filter(({ kind, raw }) => kind !== 'heading' && !/^(?:```|$)/.test(raw));
}

/** Each line with its block, its heading and its words as one key; blocks that a side renamed keep their name. */
function placesOf(files: Files): Map<string, Unit> {
  const places = new Map<string, Unit>();
  for (const block of parseHandbook(files.get(handbookPath) ?? '').blocks) {
    const title = `${scopeOf(block) ?? ''} ${block.title.replace(/ (?:ours|theirs)/g, '')}`;
    for (const unit of unitsIn(block)) places.set(`${title}\n${unit.heading}\n${unit.raw}`, unit);
  }
  return places;
}

function hashesOf(files: Files, scope: string): Set<string> {
  return new Set((unitsByScope(files).get(scope) ?? []).map(({ hash }) => hash));
}

function allHashes(files: Files): Set<string> {
  return new Set([...unitsByScope(files).values()].flat().map(({ hash }) => hash));
}

test('the samples hold what the rules are about', () => {
  const both = triples.filter(
    ({ base, ours, theirs }) =>
      ours.get(handbookPath) !== base.get(handbookPath) && theirs.get(handbookPath) !== base.get(handbookPath),
  );
  assert.ok(both.length > 190, `${both.length} of ${triples.length} were edited on both sides`);
});

test('a handbook and a summary are read and written without loss', () => {
  for (const { seed, ours, theirs } of triples) {
    for (const files of [ours, theirs]) {
      const [handbook, summary] = [files.get(handbookPath) ?? '', files.get(memorySummaryPath) ?? ''];
      for (const text of [handbook, handbook.trimEnd(), `\n\n${handbook}\n\n`, handbook.replace(/\n/g, '\r\n')])
        assert.equal(renderDocument(outlineHandbook(text)), /\S/.test(text) ? text : '', `seed ${seed}`);
      assert.equal(renderDocument(outlineSummary(summary)), summary, `seed ${seed}`);
    }
  }
});

test('where one side changed nothing, or both the same, the result is the other side, byte for byte', () => {
  for (const { base, ours, theirs } of triples) {
    assert.deepEqual(mergeMemories(base, base, theirs).files, sorted(theirs));
    assert.deepEqual(mergeMemories(base, ours, base).files, sorted(ours));
    assert.deepEqual(mergeMemories(base, ours, ours).files, sorted(ours));
  }
});

test('no line that people added is lost', () => {
  for (const triple of triples) {
    const files = merge(triple);
    for (const [scope, units] of unitsByScope(triple.theirs)) {
      const before = hashesOf(triple.base, scope);
      const now = hashesOf(files, scope);
      for (const { hash, raw } of units) assert.ok(before.has(hash) || now.has(hash), `seed ${triple.seed}: ${raw}`);
    }
  }
});

test('no line that people removed comes back', () => {
  for (const triple of triples) {
    const files = merge(triple);
    const everywhereNow = allHashes(triple.theirs);
    for (const [scope, units] of unitsByScope(triple.base)) {
      const kept = hashesOf(triple.theirs, scope);
      const now = hashesOf(files, scope);
      for (const { hash, raw } of units) {
        assert.ok(kept.has(hash) || !now.has(hash), `seed ${triple.seed}: ${raw}`);
        assert.ok(everywhereNow.has(hash) || !allHashes(files).has(hash), `seed ${triple.seed}, elsewhere: ${raw}`);
      }
    }
  }
});

test('nothing of ours is lost but what people touched', () => {
  for (const triple of triples) {
    const now = allHashes(merge(triple));
    const untouched = placesOf(triple.theirs);
    const touched = [...placesOf(triple.base)].filter(([place]) => !untouched.has(place)).map(([, unit]) => unit);
    const items = new Set(touched.flatMap(({ evidence }) => itemsOf(evidence)));
    const hashes = new Set(touched.map(({ hash }) => hash));
    const hasWords = touched.some(({ evidence }) => evidence.length === 0);
    const before = allHashes(triple.base);
    for (const { hash, raw, evidence } of placesOf(triple.ours).values()) {
      if (hashes.has(hash) || itemsOf(evidence).some((item) => items.has(item))) continue;
      // New words without evidence may be other words for what people touched.
      if (!before.has(hash) && (hasWords || (evidence.length === 0 && touched.length > 0))) continue;
      assert.ok(now.has(hash), `seed ${triple.seed}: ${raw}`);
    }
  }
});

test('a line that people left alone and we removed stays removed, unless it went into one that they refused', () => {
  for (const triple of triples) {
    const now = allHashes(merge(triple));
    const ours = placesOf(triple.ours);
    const said = new Set([...ours.values()].map(({ hash }) => hash));
    const before = allHashes(triple.base);
    const fresh = new Set(
      [...ours.values()].flatMap(({ hash, evidence }) => (before.has(hash) ? [] : itemsOf(evidence))),
    );
    const theirs = placesOf(triple.theirs);
    const titles = new Set([...ours.keys()].map((place) => place.split('\n')[0]));
    for (const [place, { hash, raw, evidence, kind }] of placesOf(triple.base)) {
      const isWithBlock = !titles.has(place.split('\n')[0]);
      if (said.has(hash) || !theirs.has(place) || isWithBlock || itemsOf(evidence).some((item) => fresh.has(item)))
        continue;
      if (kind === 'prose' && !/^(?:Mind|Written)/.test(raw)) continue; // A fence is one piece.
      const copies = [...theirs].filter(([other, unit]) => unit.hash === hash && other !== place);
      assert.ok(!now.has(hash) || copies.length > 0, `seed ${triple.seed}: ${raw}`);
    }
  }
});

test('a scope that only one side changed is that side’s, block for block', () => {
  // Blocks of all scopes have one order, which the other side may have changed.
  const blocksOf = (files: Files, scope: string) =>
    parseHandbook(project(files, scope).get(handbookPath) ?? '')
      .blocks.map(({ raw }) => raw.trimEnd())
      .sort(byBinary);
  for (const triple of triples) {
    const files = merge(triple);
    const known = allHashes(triple.base);
    for (const scope of new Set([...scopesOf(triple.base), ...scopesOf(triple.ours), ...scopesOf(triple.theirs)])) {
      const before = hashesOf(triple.base, scope);
      // What we moved here from another scope may be what people removed there.
      const isFromElsewhere = [...hashesOf(triple.ours, scope)].some((hash) => !before.has(hash) && known.has(hash));
      if (scope === everywhere || isFromElsewhere) continue;
      const same = (a: Files, b: Files) => a.get(handbookPath) === b.get(handbookPath);
      const [base, ours, theirs] = [triple.base, triple.ours, triple.theirs].map((side) => project(side, scope));
      if (base === undefined || ours === undefined || theirs === undefined) continue;
      if (same(base, theirs)) assert.deepEqual(blocksOf(files, scope), blocksOf(ours, scope), `seed ${triple.seed}`);
      if (same(base, ours)) assert.deepEqual(blocksOf(files, scope), blocksOf(theirs, scope), `seed ${triple.seed}`);
    }
  }
});

test('the result is read as it was meant: each scope can be taken out and put back', () => {
  for (const triple of triples) {
    const files = merge(triple);
    for (const scope of scopesOf(files)) assert.deepEqual(splice(files, scope, project(files, scope)), files);
    const text = files.get(handbookPath) ?? '';
    const { preamble, blocks } = parseHandbook(text);
    assert.equal(preamble + blocks.map(({ raw }) => raw).join(''), text);
    const titles = (side: Files) => parseHandbook(side.get(handbookPath) ?? '').blocks.map(({ title }) => title);
    for (const title of titles(files)) assert.ok([...titles(triple.ours), ...titles(triple.theirs)].includes(title));
  }
});

test('several scopes are put back at once as they are one after the other', () => {
  for (const { base, ours, seed } of triples) {
    const scopes = [...new Set([...scopesOf(base), ...scopesOf(ours)])];
    const projections = new Map(scopes.map((scope) => [scope, project(ours, scope)]));
    const inTurn = scopes.reduce((files, scope) => splice(files, scope, projections.get(scope) ?? new Map()), base);
    assert.deepEqual(spliceAll(base, projections), inTurn, `seed ${seed}`);
  }
});

test('merging again changes nothing more', () => {
  for (const triple of triples) {
    const files = merge(triple);
    assert.deepEqual(mergeMemories(triple.theirs, files, triple.theirs).files, files);
    // From the old base too, unless a line of ours cites all that a removed one did, and more: it may be that one reworded.
    assert.deepEqual(mergeMemories(triple.base, files, triple.theirs).files, files, `seed ${triple.seed}`);
  }
});

test('the result is the same whatever the line ends, but for them', () => {
  const crlf = (files: Files) => new Map([...files].map(([path, text]) => [path, text.replace(/\n/g, '\r\n')]));
  for (const triple of triples.slice(0, 100)) {
    const all = mergeMemories(crlf(triple.base), crlf(triple.ours), crlf(triple.theirs));
    assert.deepEqual(all, {
      files: crlf(merge(triple)),
      touched: mergeMemories(triple.base, triple.ours, triple.theirs).touched,
    });
    const mixed = mergeMemories(triple.base, triple.ours, crlf(triple.theirs)).files;
    if (triple.theirs.has(handbookPath)) assert.deepEqual(mixed, crlf(merge(triple)), `seed ${triple.seed}`);
  }
});

function sorted(files: Files): Files {
  return new Map([...files].sort(([a], [b]) => byBinary(a, b)));
}
