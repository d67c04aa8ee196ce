/**
 * Bounds of a stage-1 output: what the prompt asks for and what is stored are the same numbers. A row of the state is
 * at most 6 KB, both texts and their columns together.
 */
export const stage1Limits = {
  /** UTF-8 bytes. */
  rawMemoryBytes: 2_400,
  /** UTF-8 bytes. */
  rolloutSummaryBytes: 2_900,
  slugCharacters: 80,
} as const;
