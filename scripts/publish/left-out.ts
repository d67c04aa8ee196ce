/**
 * Rule → how many blocks and files a consolidation did not accept. Only a rule's own name gets out of a reason, since
 * the rest of it may quote the memory; a reason without one counts as `other`.
 */
export function leftOutByRule(dropped: readonly { readonly reason: string }[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { reason } of dropped) {
    const rule = /\(([a-z]{1,40}\.[a-z_]{1,40})\)$/.exec(reason)?.[1] ?? 'other';
    counts.set(rule, (counts.get(rule) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
