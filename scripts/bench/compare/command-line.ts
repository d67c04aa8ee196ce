import { UsageError } from '../../shared/errors.ts';

/** What stands in a command for a thing that only the bench knows. */
export type Places = Readonly<Record<'corpus' | 'server' | 'out', string>>;

/**
 * Splits a command into its arguments at white space and does nothing else of what a shell does: what stands in single
 * or double quotes stays together. Then fills in `{corpus}`, `{server}` and `{out}`.
 * @throws UsageError for no command, a quote that is not closed, and a place that there is not.
 */
export function argvOf(command: string, places: Places): string[] {
  const words = wordsOf(command).map((word) => filled(word, places));
  if (words.length > 0) return words;
  throw new UsageError('--compare names no command.', '--compare codex, or --compare "tool --dir {corpus}"');
}

function wordsOf(command: string): string[] {
  const words: string[] = [];
  let [word, quote, isOpen] = ['', '', false];
  for (const char of command) {
    if (char === quote) quote = '';
    else if (quote !== '') word += char;
    else if (char === '"' || char === "'") [quote, isOpen] = [char, true];
    else if (/\s/.test(char)) {
      if (isOpen) words.push(word);
      [word, isOpen] = ['', false];
    } else [word, isOpen] = [word + char, true];
  }
  if (quote !== '') throw new UsageError(`A quote is not closed in --compare ${command}`, 'Close it, or leave it out.');
  return isOpen ? [...words, word] : words;
}

/** In one step, so that nothing is filled into what was filled in. */
function filled(word: string, places: Places): string {
  return word.replace(/\{(\w+)\}/g, (whole, name: string) => {
    if (name === 'corpus' || name === 'server' || name === 'out') return places[name];
    throw new UsageError(
      `--compare knows no ${whole}.`,
      '{corpus}: the folder of sessions. {server}: the address of a model server, without /v1. {out}: an empty folder.',
    );
  });
}
