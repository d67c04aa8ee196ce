import { playSoak } from './soak-run.ts';

/**
 * `<seed> <nights>`: the nights of the soak test in a process without a test runner, which would watch each of the many
 * promises of a night. Prints what was played as one JSON object; what broke ends the process.
 */
const [seed = Number.NaN, nights = Number.NaN] = process.argv.slice(2).map(Number);
const ends: (() => unknown)[] = [];

try {
  const { team, model, kills } = await playSoak({ after: (work) => ends.push(work) }, seed, nights);
  const played: Played = { nights: model.night, killed: kills.size, pulls: team.forge.pulls.length };
  process.stdout.write(`${JSON.stringify(played)}\n`);
} finally {
  for (const work of ends) await work();
}

export interface Played {
  readonly nights: number;
  readonly killed: number;
  readonly pulls: number;
}
