import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { command } from './nights.ts';
import { type ReportMemory, writeReportMemory } from './report-memory.ts';
import { scratchRepository } from './repository.ts';

/** Writes the report of such a memory with the real command. @returns the file's path. */
export async function aReport(memory: ReportMemory): Promise<string> {
  const dir = scratchRepository();
  await writeReportMemory(dir, memory);
  mkdirSync(join(dir, 'out'));
  const path = join(dir, 'out/report.html');
  const { code, stderr } = await command('report', ['--repo', dir, '--out', path]);
  if (code !== 0) throw new Error(`The report ended with ${code}: ${stderr}`);
  return path;
}

export function urlOf(path: string, hash = ''): string {
  return `${pathToFileURL(path).href}${hash}`;
}
