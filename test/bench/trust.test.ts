import assert from 'node:assert/strict';
import { test } from 'node:test';
import { theCorpus } from '../../scripts/bench/trust/corpus.ts';
import { plant } from '../../scripts/bench/trust/faults.ts';
import { lotsFrom } from '../../scripts/bench/trust/lots.ts';
import { broken, measureTrust, type Trust } from '../../scripts/bench/trust/measure.ts';
import { trustText } from '../../scripts/bench/trust/report.ts';
import { measureSecrets } from '../../scripts/bench/trust/secrets.ts';

test('of each kind of planted fault at least nine in ten are caught, and hardly a line that nobody touched', async () => {
  const trust = await measureTrust({ faults: 12, sessions: 2, seed: 11 });
  assert.deepEqual(broken(trust, { planted: 30, untouched: 500 }), [], trustText(trust));
  for (const language of ['recorded', 'en', 'de', 'zh', 'fr']) assert.ok((trust.untouched[language]?.lines ?? 0) > 50);
});

test('the same seed plants the same faults', async () => {
  const corpus = await theCorpus(1, []);
  const once = plant('changed quote', corpus, 6, lotsFrom(3)).map(({ line }) => line);
  assert.deepEqual(
    plant('changed quote', corpus, 6, lotsFrom(3)).map(({ line }) => line),
    once,
  );
  assert.notDeepEqual(
    plant('changed quote', corpus, 6, lotsFrom(4)).map(({ line }) => line),
    once,
  );
});

test('what was promised and does not hold is named', async () => {
  const { faults, untouched } = await measureTrust({ faults: 2, sessions: 1, seed: 1, recorded: [] });
  const kind = 'hedge dropped';
  const spoilt: Trust = {
    faults: { ...faults, [kind]: { ...faults[kind], handbook: { planted: 100, caught: 10 } } },
    untouched: { ...untouched, en: { lines: 100, alarms: 90 } },
    missed: [],
    alarms: [],
  };
  const told = broken(spoilt, { planted: 30, untouched: 500 }).join('\n');
  for (const one of [
    /hedge dropped: 1\d of 104 caught/,
    /of \d+ faults caught/,
    /untouched lines; at least 500/,
    /90 of \d+ untouched lines/,
  ])
    assert.match(told, one);
});

test('planted secrets are found where Codex’s four patterns find few, and harmless lines are left alone', async () => {
  const { families, harmless } = await measureSecrets();
  const sum = (of: 'planted' | 'ours' | 'codex') => families.reduce((count, family) => count + family[of], 0);
  assert.ok(sum('ours') >= sum('planted') * 0.95, JSON.stringify(families));
  assert.ok(sum('codex') < sum('ours'));
  assert.ok(harmless.ours * 50 < harmless.planted);
});
