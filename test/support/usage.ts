import { memoryClose, memoryOpen } from '../../scripts/rollout/marker.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import type { Event } from './codex-session.ts';
import { codexMessage } from './sessions.ts';

/** A session's start hook gave it lines about these threads. */
export function given(...threads: readonly string[]): Event {
  const lines = threads.map((thread) => `- A line of memory [${shortThreadId(thread)}@3]`).join('\n');
  return givenText(lines);
}

/** A session's start hook gave it this memory. */
export function givenText(memory: string): Event {
  const text = `${memoryOpen}\n${memory}\n${memoryClose}`;
  return { raw: JSON.stringify({ ...codexMessage('developer', [text], {}, ['hooks.context']), timestamp: undefined }) };
}

/** An answer that ends in a citation of these ids. */
export function citing(ids: readonly string[], entries = ''): string {
  return `Done.\n<oai-mem-citation>\n<citation_entries>\n${entries}\n</citation_entries>\n<rollout_ids>\n${ids.join('\n')}\n</rollout_ids>\n</oai-mem-citation>`;
}
