import { spawn } from 'node:child_process';
import { stopwatch } from '../shared/clock.ts';
import type { World } from '../shared/main.ts';

export interface Started {
  /** From its start until its output ended. */
  readonly ms: number;
  readonly stdout: string;
  /** null where a signal ended it. */
  readonly code: number | null;
}

/** Runs Node with arguments of its own, and an end to its input. */
export function started({ self, env }: World, args: readonly string[], input = ''): Promise<Started> {
  return new Promise((done, fail) => {
    const elapsed = stopwatch();
    const child = spawn(self.program, [...args], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdin.on('error', () => undefined);
    child.on('error', fail);
    child.on('close', (code) => done({ ms: elapsed(), stdout: Buffer.concat(chunks).toString('utf8'), code }));
    child.stdin.end(input);
  });
}
