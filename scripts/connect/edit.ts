/** A change to one file of a person: made, recognised and undone as text (without a byte order mark). Pure. */
export interface Edit {
  /** Absolute; it need not be there. */
  readonly path: string;
  /** What is added, for `--print`. */
  readonly shown: string;
  /** Exactly what is wanted stands there, once. */
  isInstalled(text: string): boolean;
  /** Something of ours stands there, of whatever version. */
  holds(text: string): boolean;
  /** @param text null: there is no file. @throws MemoryError where the file cannot take it. */
  install(text: string | null): string;
  /**
   * Takes ours out and leaves the rest. @param kept what `structure` said before we came.
   * @returns the same text where nothing is ours; null where the whole file is.
   */
  uninstall(text: string, kept: readonly string[]): string | null;
  /** Names of what holds ours and was there before: it stays when ours goes. */
  structure(text: string): readonly string[];
  /** Nothing is left that a person would miss. */
  isEmpty(text: string): boolean;
}
