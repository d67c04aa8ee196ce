import type { Redactor } from '../shared/redact.ts';
import type { Rollouts } from './source.ts';
import type { Rollout } from './types.ts';

/** The same sessions with their secrets removed: the only form in which the rest of the program sees them. */
export function redactedRollouts(rollouts: Rollouts, redactor: Redactor): Rollouts {
  return {
    async list(signal) {
      const { found, ignored } = await rollouts.list(signal);
      return {
        found: found.map((entry) => ({
          ...entry,
          thread: { ...entry.thread, title: redactor.redact(entry.thread.title) },
        })),
        ignored,
      };
    },
    read: async (threadId, signal) => redactRollout(await rollouts.read(threadId, signal), redactor),
  };
}

/** Removes secrets from every text of a rollout and counts them by rule. */
export function redactRollout(rollout: Rollout, redactor: Redactor): Rollout {
  const counts: Record<string, number> = {};
  const clean = (text: string): string => {
    const redacted = redactor.redactCounted(text);
    for (const [rule, count] of Object.entries(redacted.counts)) counts[rule] = (counts[rule] ?? 0) + count;
    return redacted.text;
  };
  const items = rollout.items.map((item) => {
    const text = clean(item.text);
    const files = item.files?.map(clean);
    return files === undefined ? { ...item, text } : { ...item, text, files };
  });
  return {
    ...rollout,
    thread: { ...rollout.thread, title: clean(rollout.thread.title), cwd: clean(rollout.thread.cwd) },
    redaction: Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))),
    items,
  };
}
