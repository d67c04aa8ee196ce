import { costCommand } from './cost.ts';
import { forgettingCommand } from './forgetting.ts';
import { growthCommand } from './growth.ts';
import { retrievalCommand } from './retrieval.ts';
import { stagesCommand } from './stages.ts';
import { trustCommand } from './trust.ts';
import type { SubCommand } from './types.ts';

/** By name, in the order of the help. */
export const subCommands: Readonly<Record<string, SubCommand>> = {
  stages: stagesCommand,
  cost: costCommand,
  forgetting: forgettingCommand,
  growth: growthCommand,
  retrieval: retrievalCommand,
  trust: trustCommand,
};
