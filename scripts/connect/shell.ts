/**
 * A word that every shell agents use (sh, bash, dash, zsh, fish) reads as exactly this text. A `$` is always followed by
 * a quote, as Gemini CLI replaces `$NAME` and `${NAME}` in its settings before a shell sees them.
 */
export function shellWord(text: string): string {
  if (/^[A-Za-z0-9_./:=@%+-]+$/.test(text)) return text;
  return `'${text.replace(/'/g, "'\\''").replace(/\$/g, "$$''")}'`;
}
