import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkoutsFrom } from '../rollout/checkouts.ts';
import { openRollouts, type Source } from '../rollout/source.ts';
import type { Place } from '../rollout/thread.ts';
import type { Agent, Rollout } from '../rollout/types.ts';

const folder = fileURLToPath(new URL('../../test/fixtures/rollouts/', import.meta.url));

/** Where the recorded sessions are. */
export const sampleSources: readonly Source[] = [
  { agent: 'codex', path: join(folder, 'codex') },
  { agent: 'claude-code', path: join(folder, 'claude-code') },
  { agent: 'claude-code', path: join(folder, 'claude-code-real') },
];

/** A recorded session in which a person speaks. */
export interface Sample {
  readonly agent: Agent;
  /** The id in its name and its lines. */
  readonly id: string;
  readonly name: string;
  readonly lines: readonly string[];
  /** Bytes before the line of the person's first words. */
  readonly speaksAt: number;
}

/** Where the recorded sessions' folders were checked out from. */
export async function samplePlace(): Promise<Place> {
  const checkouts = checkoutsFrom(JSON.parse(await readFile(join(folder, 'checkouts.json'), 'utf8')));
  return { include: [], checkouts, home: '/home/dana' };
}

/** Every sample that a night would read, by thread id. */
export async function loadSamples(): Promise<Sample[]> {
  const rollouts = openRollouts(sampleSources, await samplePlace());
  const { found } = await rollouts.list();
  const samples: Sample[] = [];
  for (const { thread, humanItems, path } of found) {
    if (thread.kind !== 'root' || humanItems === 0) continue;
    const text = await readFile(path, 'utf8');
    const all = text.split('\n');
    const first = (await rollouts.read(thread.id)).items.find(({ who }) => who === 'human')?.src.line ?? 1;
    samples.push({
      agent: thread.agent,
      id: thread.id,
      name: basename(path),
      lines: all.filter((line) => line !== ''),
      speaksAt: Buffer.byteLength(all.slice(0, first - 1).join('\n')),
    });
  }
  return samples;
}

/** All samples in canonical form, by thread id. */
export async function sampleRollouts(): Promise<Rollout[]> {
  const rollouts = openRollouts(sampleSources, await samplePlace());
  const { found } = await rollouts.list();
  return Promise.all(found.map(({ thread }) => rollouts.read(thread.id)));
}

/** Every item's text. */
export async function sampleTexts(): Promise<string[]> {
  return (await sampleRollouts()).flatMap(({ items }) => items.map(({ text }) => text));
}

/** Whether a line holds words of a person or a model, or a tool's call or answer. */
export function isSaid(line: string): boolean {
  const record: { type?: unknown; attachment?: { type?: unknown } } = JSON.parse(line);
  const { type, attachment } = record;
  if (type === 'attachment') return attachment?.type === 'queued_command';
  return type === 'user' || type === 'assistant' || type === 'response_item';
}
