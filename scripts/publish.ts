import { publishCommand, publishSpec } from './nightly/publish-command.ts';
import { main } from './shared/main.ts';

await main(publishSpec, publishCommand);
