/** What neither a file of ours nor a model should get: C0 controls but tab and line feed, and DEL. CR is a line end. */
const unwanted = /[\x00-\x08\x0b-\x1f\x7f]/;
/** Beyond ASCII: line ends that no editor shows as such, and what no reader sees. */
const unseen = /[\u0080-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

/**
 * Text as everything after the readers expects it: LF line ends, no control characters but `\n` and `\t`, nothing that
 * is invisible or turns the direction, lone surrogates replaced by U+FFFD. Clean text comes back as it is.
 */
export function sanitizeText(text: string): string {
  const printable = unwanted.test(text) ? text.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '') : text;
  const seen = unseen.test(printable) ? withoutHidden(printable.replace(/[\u0085\u2028\u2029]/g, '\n')) : printable;
  return wellFormed(seen);
}

/** Without what no reader sees: zero-width, bidirectional and other control characters. */
export function withoutHidden(text: string): string {
  return text.replace(hiddenCharacters, '');
}

// Joiners (U+200C, U+200D) are words' and emoji's own after a non-ASCII character, and hide something after an ASCII one.
const hiddenCharacters =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|(?<![^\u0000-\u007f])[\u200c\u200d]|[\u{e0000}-\u{e007f}]/gu;

/** Node 20 has `isWellFormed`; the compiler's library for ES2023 does not know it. */
function wellFormed(text: string): string {
  const known = text as string & { isWellFormed?(): boolean; toWellFormed?(): string };
  if (known.isWellFormed === undefined || known.toWellFormed === undefined) return Buffer.from(text).toString();
  return known.isWellFormed() ? text : known.toWellFormed();
}
