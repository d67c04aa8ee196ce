import type { CarriedNote } from '../../archive/note-file.ts';
import { openJournal } from '../../model/journal.ts';
import { createLedger } from '../../model/ledger.ts';
import { createBuiltinConsolidator } from '../../phase2/builtin.ts';
import type { Rollouts } from '../../rollout/source.ts';
import type { Files } from '../../shared/files.ts';
import { createRedactor } from '../../shared/redact.ts';
import { type NightPolicy, playNight } from '../night.ts';
import { extractorClassOf } from '../outlook.ts';
import { nightJournal } from '../settings.ts';
import type { Start } from '../start.ts';
import type { Stage } from './stage.ts';

/**
 * Whether a night from here would do anything: it is played with nothing allowed, so that all it would ask a model for
 * is left. A batch at the model's server is to be looked at in any case. The start is used up.
 */
export async function hasWork(
  start: Start,
  policy: NightPolicy,
  rollouts: Rollouts,
  notes: readonly CarriedNote[],
  stage: Stage,
): Promise<boolean> {
  const { repository, config, world } = stage;
  const maker = { class: extractorClassOf(config.model.provider), promptHash: '' };
  const redactor = createRedactor(world.env);
  const redact = (text: string) => redactor.redact(text);
  const { made, report } = await playNight(
    start,
    policy,
    {
      repository,
      rollouts,
      notes: async () => notes,
      extractor: { ...maker, extract: unasked },
      consolidator: { ...maker, consolidate: unasked },
      fallback: createBuiltinConsolidator(),
      journal: openJournal(nightJournal(repository), redact),
      ledger: createLedger(),
      clock: world.clock,
      models: '',
      redact,
      progress: () => undefined,
      goesOn: () => false,
    },
    world.signal,
  );
  const isAwaited = maker.class === 'llm' && start.night.batches.length > 0;
  const isLeft = report.phase1.left.length > 0 || report.phase2.scopes.some(({ outcome }) => outcome === 'left');
  const isSame = made.stateText === start.stateText && equalFiles(start.standing, made.files);
  return isAwaited || isLeft || !isSame || start.unproposed !== null;
}

async function unasked(): Promise<never> {
  throw new Error('A rehearsal asked for an answer.');
}

function equalFiles(a: Files, b: Files): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}
