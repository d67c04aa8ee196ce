import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { MemoryError, messageOf, UsageError } from '../shared/errors.ts';

/**
 * Writes the page, whole or not at all. A file that is there is replaced only where it is a report.
 * @param sign stands in every report. @throws UsageError for another's file and for a place that is no file's.
 */
export function writeReport(path: string, page: string, sign: string): void {
  if (!existsSync(dirname(path)))
    throw new UsageError(`There is no folder ${dirname(path)}.`, 'Make it, or give --out another place.');
  if (existsSync(path)) {
    if (!statSync(path).isFile())
      throw new UsageError(`${path} is no file.`, 'Give --out the path of a file, such as memory-report.html.');
    if (!readFileSync(path, 'utf8').slice(0, 2_000).includes(sign))
      throw new UsageError(
        `${path} is there already and is no report, so it was left as it is.`,
        'Move it away, or give --out another place.',
      );
  }
  const draft = `${path}.draft`;
  try {
    writeFileSync(draft, page);
    renameSync(draft, path);
  } catch (cause) {
    if (existsSync(draft) && statSync(draft).isFile()) rmSync(draft);
    throw new MemoryError(
      `The report could not be written: ${messageOf(cause)}.`,
      'Give --out a place that may be written.',
      {
        cause,
      },
    );
  }
}
