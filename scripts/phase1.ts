import { phase1Spec } from './nightly/flags.ts';
import { phase1Command } from './nightly/phase1-command.ts';
import { main } from './shared/main.ts';

await main(phase1Spec, phase1Command);
