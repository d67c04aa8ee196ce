import { forgetCommand, forgetSpec } from './forget/command.ts';
import { main } from './shared/main.ts';

await main(forgetSpec, forgetCommand);
