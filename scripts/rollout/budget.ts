/** Bounds of what an extraction is sent. */
export const inputLimits = {
  /** Tokens of the whole rollout where the model's context window is unknown. */
  unknownWindowTokens: 150_000,
  /** Tokens of one tool output. */
  outputTokens: 2_000,
  /** Bytes of one row with its label, head and tail. */
  rowBytes: 10_000,
} as const;

/**
 * Tokens that a rollout may fill: 70 % of the 95 % of the context window that a model uses well.
 * @source spec §4.5
 */
export function inputBudget(contextWindow: number | null): number {
  if (contextWindow === null) return inputLimits.unknownWindowTokens;
  return Math.max(1, Math.floor((Math.floor((contextWindow * 95) / 100) * 70) / 100));
}
