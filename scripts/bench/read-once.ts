import { openRollouts } from '../rollout/source.ts';
import { samplePlace } from './samples.ts';

/** Reads a Claude Code session as a night does: listed, then read. @returns how many items it has */
export async function readOnce(path: string): Promise<number> {
  const rollouts = openRollouts([{ agent: 'claude-code', path }], await samplePlace());
  const { found } = await rollouts.list();
  return found[0] === undefined ? 0 : (await rollouts.read(found[0].thread.id)).items.length;
}
