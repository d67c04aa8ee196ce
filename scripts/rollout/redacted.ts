import { createRedactor, type Finding, type Redactor } from '../shared/redact.ts';
import { hiddenThreadId } from '../shared/thread-id.ts';
import { withoutPrivate } from './private.ts';
import type { Rollouts } from './source.ts';
import { titleOf } from './thread.ts';
import type { Item, Rollout } from './types.ts';

/** The same sessions with their secrets removed: the only form in which the rest of the program sees them. */
export function redactedRollouts(rollouts: Rollouts, redactor: Redactor): Rollouts {
  return rollouts.cleaned({
    rollout: (rollout) => redactRollout(rollout, redactor),
    text: (text) => redactor.redact(text),
    key: () => redactor.key(),
  });
}

/**
 * Removes secrets, and what its people marked as private, from every text of a rollout and counts them by rule. A value that is a secret in one place is
 * removed wherever else the session holds it, encoded or not: what a rule knows by its place stands alone elsewhere.
 */
export function redactRollout(rollout: Rollout, redactor: Redactor): Rollout {
  const counts: Record<string, number> = {};
  const { items: shown, passages, contents } = withoutPrivate(rollout.items);
  if (passages > 0) counts.private = passages;
  const found = shown.map(({ text }) => redactor.find(text));
  const everywhere = valuesRedactor(shown, found, contents);
  const clean = (text: string): string => {
    let current = text;
    for (const { redactCounted } of everywhere === null ? [redactor] : [redactor, everywhere]) {
      const redacted = redactCounted(current);
      for (const [rule, count] of Object.entries(redacted.counts)) counts[rule] = (counts[rule] ?? 0) + count;
      current = redacted.text;
    }
    return current;
  };
  const items = shown.map((item, index) => {
    const isClean = everywhere === null && found[index]?.length === 0;
    const { files, src } = item;
    const id = src.id === undefined ? undefined : redactor.redact(src.id);
    if (isClean && files === undefined && id === src.id) return item;
    return {
      ...item,
      text: isClean ? item.text : clean(item.text),
      ...(files === undefined ? {} : { files: files.map(clean) }),
      src: id === undefined ? src : { ...src, id },
    };
  });
  const { thread } = rollout;
  return {
    ...rollout,
    thread: {
      ...thread,
      id: redactor.find(thread.id).length === 0 ? thread.id : hiddenThreadId(thread.id),
      repo: redactor.redact(thread.repo),
      aliases: thread.aliases.map((alias) => redactor.redact(alias)),
      cwd: clean(thread.cwd),
      branch: thread.branch === null ? null : clean(thread.branch),
      title: titleOf(items),
    },
    redaction: Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))),
    items,
  };
}

/** Knows the rollout's own secrets by their values; null where it holds none. */
function valuesRedactor(
  items: readonly Item[],
  found: readonly (readonly Finding[])[],
  contents: readonly string[],
): Redactor | null {
  const values = new Set<string>(contents.filter(({ length }) => length <= longestValue));
  items.forEach(({ text }, index) => {
    for (const { start, end } of found[index] ?? [])
      if (end - start <= longestValue) values.add(text.slice(start, end));
  });
  if (values.size === 0) return null;
  return createRedactor(Object.fromEntries([...values].map((value, index) => [`SESSION_SECRET_${index}`, value])));
}

/** A longer one, such as a private key, is known by its form wherever it stands. */
const longestValue = 512;
