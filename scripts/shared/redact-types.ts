/** Half-open, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Looks for one kind of secret where one of its literals occurs (ASCII letters in either case). */
export interface Detector {
  readonly id: string;
  readonly literals: readonly string[];
  /** @param at where the literal starts. Reads a bounded stretch around it, whatever the text. */
  detect(text: string, at: number): Span | null;
}

/** A secret that its form alone gives away, as its provider publishes it. */
export interface FormRule {
  readonly id: string;
  readonly provider: string;
  /** What every secret of this form contains. */
  readonly literals: readonly string[];
  /**
   * Matched from the literal's start (or `before` characters further left), case-sensitively unless `anyCase`. The
   * group named `secret`, if there is one, is what goes, else everything. Quantifiers are bounded.
   */
  readonly pattern: string;
  readonly before?: number;
  readonly anyCase?: true;
}

export const placeholder = '[REDACTED_SECRET]';
