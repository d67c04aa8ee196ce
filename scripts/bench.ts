import { benchCommand, benchSpec } from './bench/command.ts';
import { main } from './shared/main.ts';

await main(benchSpec, benchCommand);
