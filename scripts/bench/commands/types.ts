import type { ExitCode } from '../../shared/errors.ts';
import type { CommandSpec } from '../../shared/flags.ts';
import type { World } from '../../shared/main.ts';

/** What `npm run bench -- <name>` does: a file of this folder each, named in `all.ts`. */
export interface SubCommand {
  /** Its name is `bench -- <name>`. */
  readonly spec: CommandSpec;
  run(world: World): Promise<ExitCode>;
}
