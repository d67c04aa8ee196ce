import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { playNight } from './nights.ts';
import { git, temporaryFolder } from './repository.ts';
import { samples } from './sessions.ts';

/** Sessions of the recorded ones that a small night reads. */
export const someSessions = [{ agent: 'codex', path: join(samples, 'codex/exec') }] as const;

let first: Promise<string> | undefined;

/** A repository whose memory a real night made over a few recorded sessions; each call gives a copy. */
export async function aMemory(t: TestContext): Promise<string> {
  const dir = temporaryFolder(t);
  cpSync(await firstMemory(), dir, { recursive: true });
  return dir;
}

/** That repository itself, for who only reads it. */
export function firstMemory(): Promise<string> {
  first ??= playFirst();
  return first;
}

async function playFirst(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'memory-first-'));
  folders.push(dir);
  git(dir, 'init', '--quiet', '--initial-branch=main');
  await playNight(dir, someSessions);
  return dir;
}

const folders: string[] = [];

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
