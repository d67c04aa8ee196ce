import type { TeamNight } from '../../scripts/nightly/team.ts';
import { day, isoTime } from '../../scripts/shared/clock.ts';
import { sha256 } from '../../scripts/shared/thread-id.ts';
import { faults } from './api-faults.ts';
import { bentNight } from './bent-nights.ts';
import type { Fault as ForgeFault } from './forge-types.ts';
import type { Fault } from './git-server.ts';
import { lotsFrom } from './lots.ts';
import { type Ended, startNightly } from './nights.ts';
import type { Soak } from './soak.ts';
import { uselessAnswer } from './soak-hostile.ts';
import { peopleStep } from './soak-people.ts';
import { botToken } from './team.ts';

/** What is to go wrong with a night. Numbers of requests count from 1. */
export interface Plan {
  readonly network: { readonly at: number; readonly fault: Fault; readonly requests: number } | null;
  readonly host: { readonly at: number; readonly fault: ForgeFault } | null;
  /** So many requests to the model from there on are refused as too many. */
  readonly storm: { readonly at: number; readonly requests: number } | null;
  /** Per cent of the model's answers that are of no use. */
  readonly useless: number;
  readonly peopleAt: number | null;
  readonly secondAt: number | null;
  /** The process is killed at that request to the server or the model. */
  readonly killAt: { readonly whom: 'server' | 'model'; readonly request: number } | null;
  /** Seconds that the machine's clock is wrong by. */
  readonly skew: number;
}

export const calm: Plan = {
  network: null,
  host: null,
  storm: null,
  useless: 0,
  peopleAt: null,
  secondAt: null,
  killAt: null,
  skew: 0,
};

export interface SoakNight {
  readonly plan: Plan;
  /** Seconds: what the machine's clock said. */
  readonly at: number;
  readonly ended: readonly Ended[];
  /** null where it did not come to an end. */
  readonly night: TeamNight | null;
}

/** Draws what goes wrong; now and then nothing does. A night makes some fourteen requests to the server. */
export function aPlan({ lots, team }: Soak): Plan {
  const when = (chance: number) => lots.percent(chance);
  const skew = when(12) ? lots.of([-36, -5, 30, 72, 120]) * 3_600 : 0;
  // A child process waits in earnest until a lease that was left behind may be taken over.
  const isKilled = when(22) && team.tip('refs/memory/lease') === null && skew >= 0;
  if (isKilled) {
    const whom = lots.of(['server', 'model'] as const);
    return { ...calm, killAt: { whom, request: 1 + lots.below(whom === 'server' ? 16 : 8) } };
  }
  return {
    network: when(25)
      ? { at: 1 + lots.below(21), fault: lots.of(networkFaults), requests: lots.of([1, 3, 1_000]) }
      : null,
    host: when(15) ? { at: 1 + lots.below(6), fault: lots.of(hostFaults) } : null,
    storm: when(25) ? { at: 1 + lots.below(6), requests: lots.of([1, 4, 12, 40]) } : null,
    useless: when(20) ? lots.of([10, 30, 100]) : 0,
    peopleAt: when(35) ? 1 + lots.below(18) : null,
    secondAt: when(20) ? 1 + lots.below(18) : null,
    killAt: null,
    skew,
  };
}

const networkFaults: readonly [Fault, ...Fault[]] = [
  { kind: 'drop' },
  { kind: 'cut' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'page' },
];

const hostFaults: readonly [ForgeFault, ...ForgeFault[]] = [
  { drop: 'before' },
  { drop: 'after' },
  { status: 502 },
  { status: 403 },
  { status: 422, applies: true },
];

/** Plays a night on one of the team's machines while things go wrong as planned. */
export async function playSoakNight(soak: Soak, plan: Plan): Promise<SoakNight> {
  const { team, model, machines } = soak;
  const at = soak.now + plan.skew;
  model.night += 1;
  let second: Promise<Ended> | null = null;
  let people = false;
  const hostFrom = team.forge.requests.length;
  if (plan.host !== null) team.forge.faults.set(hostFrom + plan.host.at - 1, plan.host.fault);
  model.fault = (n, request) => {
    const { storm } = plan;
    if (storm !== null && n >= storm.at && n < storm.at + storm.requests) return faults.rateLimit(1);
    const drawn = lotsFrom(Number.parseInt(sha256(`${n} ${JSON.stringify(request.body)}`).slice(0, 8), 16));
    return drawn.percent(plan.useless) ? uselessAnswer(drawn, request) : null;
  };
  team.server.fault = ({ n }) => {
    if (n === plan.peopleAt && !people) {
      people = true;
      soak.steps.push('meanwhile:');
      peopleStep(soak);
    }
    if (n === plan.secondAt && second === null) second = bentNight(team, options(soak, machines[1], at + 60));
    const { network } = plan;
    return network !== null && n >= network.at && n < network.at + network.requests ? network.fault : null;
  };
  let night: TeamNight | null = null;
  const first =
    plan.killAt === null
      ? bentNight(team, {
          ...options(soak, machines[0], at),
          told: (told) => {
            night = told;
          },
        })
      : killedNight(soak, plan.killAt, at);
  const ended = [await first];
  if (second !== null) ended.push(await second);
  if (ended[0]?.signal === 'SIGKILL') soak.kills.add(model.night);
  model.fault = null;
  team.server.fault = null;
  team.forge.faults.clear();
  return { plan, at, ended, night };
}

function options({ machines }: Soak, clone: string, at: number) {
  return {
    clone,
    clock: isoTime(at),
    env: { OPENAI_API_KEY: `machine-${machines.indexOf(clone)}` },
    wishes: { all: false, now: false, since: null },
    patience: { wait: async () => undefined, maxRetries: 4 },
  };
}

/** A process of its own, with all that it started, gone in the middle of a request; or it ends before that. */
async function killedNight(
  { team, model, machines, built }: Soak,
  { whom, request: wanted }: NonNullable<Plan['killAt']>,
  at: number,
): Promise<Ended> {
  const [clone] = machines;
  const env = { CTM_CLOCK: isoTime(at), TEAM_TOKEN: botToken, OPENAI_API_KEY: 'machine-0' };
  const child = startNightly(['--repo', clone], { env, built });
  let isGone = false;
  const kill = () => {
    if (!isGone) child.killAll();
    isGone = true;
  };
  if (whom === 'server')
    team.server.fault = ({ n }) => {
      if (n < wanted) return null;
      kill();
      return { kind: 'drop' };
    };
  else
    model.fault = (n) => {
      if (n < wanted) return null;
      kill();
      return { drop: 'before' };
    };
  return child.ended;
}

/** The calendar month of a time, UTC. */
export function monthOf(at: number): string {
  return isoTime(at).slice(0, 7);
}

/** A day later, at times a few hours more or less. */
export function nextDay(soak: Soak): void {
  soak.now += day;
}
