import { join } from 'node:path';
import { parsedJson } from '../shared/json.ts';
import { at } from './at.ts';
import { type Submission, submissionFields, submissionFrom } from './batch-record.ts';
import { lookInto, openFolder } from './journal-files.ts';

/** Batches that were about to be asked for and are in no state yet. A folder that is made when the first is noted. */
export interface Submissions {
  /** By hash. What is damaged is left out. */
  list(): readonly Submission[];
  /** Flushed to the disk before it returns. */
  note(submission: Submission): void;
  drop(hash: string): void;
}

/** @param problems gets a sentence for each that is damaged now. */
export function openSubmissions(journal: string, problems: string[]): Submissions {
  const place = join(journal, 'batches');
  const folder = lookInto(place);
  for (const name of folder.names())
    if (submissionIn(folder, name) === null)
      problems.push(`The journal's batch ${name} is damaged and is left out: it may be paid for twice.`);
  return {
    list: () => folder.names().flatMap((name) => submissionIn(folder, name) ?? []),
    note: (submission) =>
      openFolder(place).writeNow(
        nameOf(submission.hash),
        `${JSON.stringify({ version, ...submissionFields(submission) })}\n`,
      ),
    drop: (hash) => {
      if (folder.names().includes(nameOf(hash))) openFolder(place).remove(nameOf(hash));
    },
  };
}

const version = 1;

function nameOf(hash: string): string {
  return `${hash}.json`;
}

function submissionIn(folder: ReturnType<typeof lookInto>, name: string): Submission | null {
  try {
    const value = parsedJson(folder.read(name));
    const found = at(value, 'version') === version ? submissionFrom(value) : null;
    return found !== null && nameOf(found.hash) === name ? found : null;
  } catch {
    // A link, a folder or one too large is as little a record of ours as a damaged one.
    return null;
  }
}
