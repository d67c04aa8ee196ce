import { type ExitCode, exitCodes } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { checkFlag, jsonFlag } from '../flags.ts';
import { type Forgetting, measureForgetting } from '../forgetting/measure.ts';
import { forgettingFaults, forgettingText } from '../forgetting/report.ts';
import { reckonedLoad } from '../load/days.ts';
import type { SubCommand } from './types.ts';

const nights = 120;
const citations = [0, 40, 120, 300] as const;

export const forgettingCommand: SubCommand = {
  spec: {
    name: 'bench -- forgetting',
    purpose: `Which memories stay: ${nights} nights of ${reckonedLoad.repositories} repositories and ${reckonedLoad.sessionsADay} sessions a day, beside Codex's order.`,
    flags: { check: checkFlag, json: jsonFlag },
    positionals: [],
    examples: ['npm run bench -- forgetting', 'npm run bench -- forgetting --check'],
  },
  run: forgetting,
};

async function forgetting({ flags, log }: World): Promise<ExitCode> {
  const measured: Forgetting[] = [];
  for (const [index, citationsADay] of citations.entries()) {
    const progress = (night: number) =>
      log.progress({
        stage: 'nights',
        done: index * nights + night - 1,
        total: citations.length * nights,
        note: `${citationsADay} citations a day`,
      });
    measured.push(await measureForgetting({ load: reckonedLoad, nights, citationsADay }, progress));
  }
  log.progress({ stage: 'nights', done: citations.length * nights, total: citations.length * nights, note: '' });
  const faults = forgettingFaults(measured);
  log.result(
    flags.isOn('json')
      ? JSON.stringify({ held: faults.length === 0, load: reckonedLoad, nights, measured, broken: faults })
      : [forgettingText(measured), ...faults.map((fault) => `Missed: ${fault}.`)].join('\n\n'),
  );
  return faults.length > 0 && flags.isOn('check') ? exitCodes.failed : exitCodes.done;
}
