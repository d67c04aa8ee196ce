import { join } from 'node:path';
import { type ExitCode, exitCodes } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { checkFlag, jsonFlag } from '../flags.ts';
import { measureGrowth } from '../growth/measure.ts';
import { growthFaults, growthText } from '../growth/report.ts';
import { reckonedLoad } from '../load/days.ts';
import { inScratch } from '../scratch.ts';
import type { SubCommand } from './types.ts';

const plan = { load: reckonedLoad, nights: 365, citationsADay: 120, committed: 31 } as const;

export const growthCommand: SubCommand = {
  spec: {
    name: 'bench -- growth',
    purpose: `How the state and Git grow in ${plan.nights} nights of ${reckonedLoad.sessionsADay} sessions; the last ${plan.committed} are committed and packed.`,
    flags: { check: checkFlag, json: jsonFlag },
    positionals: [],
    examples: ['npm run bench -- growth', 'npm run bench -- growth --check'],
  },
  run: growth,
};

async function growth(world: World): Promise<ExitCode> {
  const { flags, log } = world;
  const measured = await inScratch((folder) =>
    measureGrowth(plan, join(folder, 'repository'), world, (night) =>
      log.progress({ stage: 'nights', done: night, total: plan.nights, note: '' }),
    ),
  );
  const faults = growthFaults(measured);
  log.result(
    flags.isOn('json')
      ? JSON.stringify({ held: faults.length === 0, plan, ...measured, broken: faults })
      : [growthText(measured), ...faults.map((fault) => `Missed: ${fault}.`)].join('\n\n'),
  );
  return faults.length > 0 && flags.isOn('check') ? exitCodes.failed : exitCodes.done;
}
