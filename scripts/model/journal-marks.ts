import type { JournalFolder } from './journal-files.ts';

/** Which subjects a process has under way, written down so that the next one knows which it did not survive. */
export interface Marks {
  begin(subject: string, key: string): void;
  end(subject: string): void;
  /** Nothing is under way any more, and nothing of it is left. */
  remove(): void;
}

/**
 * A session is under way while it is read and while it is asked about; what is inside another mark of its subject needs
 * none, since a subject counts once, however many of its marks are open.
 * @param generation of the counts that these marks will be reckoned into.
 */
export function openMarks(attempts: JournalFolder, generation: number): Marks {
  const file = `${generation}.jsonl`;
  const open = new Map<string, { readonly outermost: string; depth: number }>();
  const mark = (what: 'begin' | 'end', subject: string, key: string) =>
    attempts.append(file, `${JSON.stringify({ generation, [what]: subject, key })}\n`);
  return {
    begin(subject, key) {
      const known = open.get(subject);
      if (known !== undefined) {
        known.depth += 1;
        return;
      }
      mark('begin', subject, key);
      open.set(subject, { outermost: key, depth: 1 });
    },
    end(subject) {
      const known = open.get(subject);
      if (known === undefined) return;
      known.depth -= 1;
      if (known.depth > 0) return;
      open.delete(subject);
      mark('end', subject, known.outermost);
      if (open.size === 0) attempts.close(file);
    },
    remove() {
      open.clear();
      attempts.remove(file);
    },
  };
}
