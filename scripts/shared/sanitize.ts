/** What neither a file of ours nor a model should get: C0 controls but tab and line feed, and DEL. CR is a line end. */
const unwanted = /[\x00-\x08\x0b-\x1f\x7f]/;

/**
 * Text as everything after the readers expects it: LF line ends, no control characters but `\n` and `\t`, lone
 * surrogates replaced by U+FFFD. Clean text comes back as it is.
 */
export function sanitizeText(text: string): string {
  const printable = unwanted.test(text) ? text.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '') : text;
  return wellFormed(printable);
}

/** Node 20 has `isWellFormed`; the compiler's library for ES2023 does not know it. */
function wellFormed(text: string): string {
  const known = text as string & { isWellFormed?(): boolean; toWellFormed?(): string };
  if (known.isWellFormed === undefined || known.toWellFormed === undefined) return Buffer.from(text).toString();
  return known.isWellFormed() ? text : known.toWellFormed();
}
