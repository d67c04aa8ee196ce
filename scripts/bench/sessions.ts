import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Source } from '../rollout/source.ts';
import { renewed } from './renew.ts';
import { isSaid, type Sample } from './samples.ts';

/**
 * The text of a session of its own, made from a sample's lines.
 * @param copy a whole number from 1: sessions with different ones share no id
 * @param bytes what was said in the sample is repeated under new ids until the session is nearly that long, and lines
 *   that do not fit are left out; without it the session is as long as the sample
 */
export function sessionText(sample: Sample, copy: number, bytes = Number.POSITIVE_INFINITY): string {
  const session = { from: sample.id, to: renewed(sample.id, copy) };
  const said = bytes === Number.POSITIVE_INFINITY ? [] : sample.lines.filter(isSaid);
  const lines: string[] = [];
  let length = 0;
  for (let round = 0, before = -1; length > before; round += 1) {
    before = length;
    for (const line of round === 0 ? sample.lines : said) {
      const fresh = renewed(line, copy + round * sessionsApart, session);
      const more = Buffer.byteLength(fresh) + 1;
      if (length + more > bytes) continue;
      lines.push(fresh);
      length += more;
    }
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Writes that many sessions, from every sample in turn, each agent's in a folder of its own.
 * @returns the folders, as a night is told of them
 */
export async function writeSessions(
  folder: string,
  samples: readonly Sample[],
  count: number,
  bytes?: number,
): Promise<readonly Source[]> {
  const agents = [...new Set(samples.slice(0, count).map(({ agent }) => agent))].sort();
  for (let made = 0; made < count; made += 1) {
    const sample = samples[made % samples.length];
    if (sample === undefined) throw new RangeError('There are no samples.');
    const path = join(folder, sample.agent, `${made}`, renewed(sample.name, made + 1));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, sessionText(sample, made + 1, bytes));
  }
  return agents.map((agent) => ({ agent, path: join(folder, agent) }));
}

/** More than there are ever sessions, so that no repeated line shares its ids with another session's. */
const sessionsApart = 100_003;
