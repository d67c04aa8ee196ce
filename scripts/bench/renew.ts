const ids =
  /\b([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b|\b((?:call|toolu|msg|req|resp)_[0-9A-Za-z]{6,60})\b/g;

/**
 * A recorded text with other ids: equal ones stay equal, different ones different, and the same text with another
 * `copy` shares none with it. So two copies are two sessions, not one that was forked.
 * @param copy a whole number; 0 changes nothing
 * @param session the session's own id and what stands for it
 */
export function renewed(text: string, copy: number, session?: { readonly from: string; readonly to: string }): string {
  if (copy === 0 && session === undefined) return text;
  const mask = Math.imul(copy, 0x9e3779b1);
  return text.replace(ids, (whole, head: string | undefined, tail: string | undefined, call: string | undefined) => {
    if (whole === session?.from) return session.to;
    if (call !== undefined) return copy === 0 ? call : `${call}x${copy}`;
    return `${((Number.parseInt(head ?? '0', 16) ^ mask) >>> 0).toString(16).padStart(8, '0')}${tail}`;
  });
}
