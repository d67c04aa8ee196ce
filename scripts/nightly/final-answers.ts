import type { Item } from '../rollout/types.ts';

/**
 * The answers that end a turn: the model's final words after which neither it nor a tool went on before somebody spoke
 * again. Older transcripts call all its words final, so what follows decides.
 */
export function finalAnswers(items: readonly Item[]): Item[] {
  const answers: Item[] = [];
  let last: Item | null = null;
  for (const item of items) {
    if (isOfSideFile(item) || item.who === 'harness' || item.who === 'other_agent') continue;
    if (item.who === 'human') {
      if (last !== null) answers.push(last);
      last = null;
    } else if (item.who === 'assistant' && item.kind === 'text') last = item;
    else last = null;
  }
  return last === null ? answers : [...answers, last];
}

/** Items of sub-agents stand after the session's own, `<file index>:n`. */
function isOfSideFile({ n }: Item): boolean {
  return n.includes(':');
}
