import { type ExitCode, exitCodes } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { checkFlag, jsonFlag } from '../flags.ts';
import { broken, measureTrust, wholeTrust } from '../trust/measure.ts';
import { secretsText, trustText } from '../trust/report.ts';
import { measureSecrets } from '../trust/secrets.ts';
import type { SubCommand } from './types.ts';

export const trustCommand: SubCommand = {
  spec: {
    name: 'bench -- trust',
    purpose: 'How many planted faults and secrets are caught, and how many sound lines are taken for faults.',
    flags: { check: checkFlag, json: jsonFlag },
    positionals: [],
    examples: ['npm run bench -- trust', 'npm run bench -- trust --check'],
  },
  run: trust,
};

async function trust({ flags, log }: World): Promise<ExitCode> {
  const measured = await measureTrust(wholeTrust);
  const secrets = await measureSecrets();
  const faults = broken(measured, { planted: 30, untouched: 500 });
  log.result(
    flags.isOn('json')
      ? JSON.stringify({ held: faults.length === 0, ...measured, secrets, broken: faults })
      : [trustText(measured), secretsText(secrets), ...faults.map((fault) => `Missed: ${fault}.`)].join('\n\n'),
  );
  return faults.length > 0 && flags.isOn('check') ? exitCodes.failed : exitCodes.done;
}
