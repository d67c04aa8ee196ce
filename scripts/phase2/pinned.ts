import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { threadByShortId } from '../state/threads.ts';
import { bulletsOf, parseHandbook } from '../workspace/handbook.ts';
import { handbookPath } from '../workspace/layout.ts';
import type { RuleContext } from '../workspace/violation.ts';

/** Ids of the threads that a human-stated line of the handbook rests on: they do not age. */
export function pinnedThreads(state: State, files: Files, context: RuleContext): Set<string> {
  const pinned = new Set<string>();
  for (const block of parseHandbook(files.get(handbookPath) ?? '').blocks) {
    for (const { evidence } of bulletsOf(block)) {
      const isHuman = evidence.some(({ thread, items }) =>
        items.some((item) => context.evidenceOf(thread, item)?.who === 'human'),
      );
      if (isHuman) for (const { thread } of evidence) pinned.add(threadByShortId(state, thread)?.threadId ?? '');
    }
  }
  pinned.delete('');
  return pinned;
}
