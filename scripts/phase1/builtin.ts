import { noUsage } from '../model/usage.ts';
import { sha256 } from '../shared/thread-id.ts';
import { namesOf } from './builtin/names.ts';
import { renderRecord } from './builtin/record.ts';
import { isHeard, signalsOf } from './builtin/signals.ts';
import { slugOf } from './builtin/slug.ts';
import { type Task, tasksOf } from './builtin/tasks.ts';
import { titleOf } from './builtin/titles.ts';
import { turnsOf } from './builtin/turns.ts';
import type { Extraction, ExtractionInput, Extractor } from './types.ts';

/** Goes up with every change of the rules that changes an output. */
const rulesVersion = 2;

/**
 * The extractor without a model: it reads structure (who spoke, what was changed, what failed and passed) and no
 * language, and every line that it writes is verbatim with its place. Pure, linear in the items.
 * @param options.redact goes over each text once more, should a secret have come this far.
 */
export function createBuiltinExtractor(options: { readonly redact?: (text: string) => string } = {}): Extractor {
  const redact = options.redact ?? ((text: string) => text);
  return {
    class: 'builtin',
    promptHash: sha256(`builtin rules ${rulesVersion}`),
    extract: async (input) => extractByRules(input, redact),
  };
}

function extractByRules({ thread, items }: ExtractionInput, redact: (text: string) => string): Extraction {
  const turns = turnsOf(items);
  const names = namesOf(turns);
  const tasks = tasksOf(turns).map((task) => ({ task, signals: signalsOf(task, names) }));
  const [first, ...more] = tasks.filter(({ task, signals }) => changedOrFailed(task) || signals.some(isHeard));
  if (!first) return { outcome: 'nothing', usage: noUsage };
  const kept = [first, ...more];
  const record = renderRecord(thread, kept, names);
  const text = {
    rolloutSummary: redact(record.summary),
    rolloutSlug: slugOf(
      redact(titleOf(first.task, thread)),
      kept.flatMap(({ task }) => task.steps),
    ),
    rawMemory: redact(record.raw),
  };
  return { outcome: 'extracted', text, unverified: 0, usage: noUsage };
}

/** Something was changed, failed or refused; being interrupted in the first command is neither. */
function changedOrFailed(task: Task): boolean {
  return task.edits.length > 0 || task.failures.length > 0 || task.stops.some((stop) => stop.kind === 'denied');
}
