import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MemoryError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { type CallsSeen, parseCalls } from './model-calls.ts';

export interface ModelServer extends ServerAccess {
  stop(): void;
}

export interface ServerAccess {
  /** Without `/v1`. */
  readonly root: string;
  readonly baseUrl: string;
  /** Since it was asked last. */
  figures(): Promise<ServerFigures>;
  /** Begins what `calls` tells. */
  mark(): Promise<void>;
  calls(): Promise<CallsSeen>;
}

export interface ServerFigures {
  readonly requests: number;
  /** The most requests that were open at the same time. */
  readonly mostOpen: number;
}

/**
 * Starts the server of `model-server.ts` in a process of its own.
 * @param width requests that it waits for before it answers the first, so that concurrency can be seen
 */
export async function startModelServer(
  world: Pick<World, 'self' | 'env' | 'signal'>,
  width: number,
): Promise<ModelServer> {
  const path = fileURLToPath(new URL('./model-server.ts', import.meta.url));
  const child = spawn(world.self.program, [...world.self.args, path, '--width', String(width)], {
    env: { ...world.env },
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: world.signal,
  });
  const root = await new Promise<string>((found, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => fail(new MemoryError(`The bench's server ended with ${code}.`, 'Run it again.')));
    createInterface(child.stdout).once('line', found);
  });
  return {
    ...reachServer(root),
    stop: () => {
      child.kill();
    },
  };
}

/** A server that another process started. */
export function reachServer(root: string): ServerAccess {
  return {
    root,
    baseUrl: `${root}/v1`,
    async figures() {
      const { requests, mostOpen } = (await (await fetch(`${root}/figures`)).json()) as Record<string, unknown>;
      return { requests: Number(requests), mostOpen: Number(mostOpen) };
    },
    async mark() {
      await (await fetch(`${root}/mark`, { method: 'POST' })).text();
    },
    async calls() {
      return parseCalls(await (await fetch(`${root}/calls`)).text());
    },
  };
}
