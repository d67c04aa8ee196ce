import { messageOf } from '../../scripts/shared/errors.ts';
import type { Ending } from './repository.ts';
import { aSoak, type Soak, viewOf, wordsAt } from './soak.ts';
import { aPlan, calm, nextDay, type Plan, playSoakNight } from './soak-night.ts';
import { forgetsAWord, peopleStep, sessionsOfADay } from './soak-people.ts';
import { holdsAfter, holdsAfterACalmNight, seenBefore } from './soak-rules.ts';

/**
 * So many nights of a team, drawn from the seed: what people do, and what goes wrong. At the end two nights in which
 * nothing does.
 * @throws what broke, with the seed and the steps that led there.
 */
export async function playSoak(t: Ending, seed: number, nights: number): Promise<Soak> {
  const soak = await aSoak(t, seed);
  try {
    for (let night = 1; night <= nights; night += 1) {
      await aDay(soak);
      await aNight(soak, night > nights - 2 ? calm : aPlan(soak));
    }
  } catch (error) {
    const steps = soak.steps.slice(-60).join(', ');
    throw new Error(`CTM_SOAK=${seed}, night ${soak.model.night}: ${messageOf(error)}\n${steps}`, { cause: error });
  }
  return soak;
}

async function aDay(soak: Soak): Promise<void> {
  nextDay(soak);
  await sessionsOfADay(soak);
  while (soak.lots.percent(45)) peopleStep(soak);
  if (soak.lots.percent(7)) await forgetsAWord(soak);
}

async function aNight(soak: Soak, plan: Plan): Promise<void> {
  const wrong = Object.entries(plan).filter(([, value]) => value !== null && value !== 0);
  soak.steps.push(`night ${soak.model.night + 1} ${JSON.stringify(Object.fromEntries(wrong))}`);
  const before = seenBefore(soak);
  const played = await playSoakNight(soak, plan);
  soak.steps.push(played.ended.map(({ code, signal }) => code ?? signal).join(' and '));
  const isCalm = wrong.every(([name]) => name === 'skew');
  const [first] = played.ended;
  if (isCalm && first?.code !== 0) throw new Error(`A calm night ended with ${first?.code}: ${first?.stderr}`);
  // A model that does nothing with what it is given has a right to.
  if (plan.useless > 0) excuseWhatIsMissing(soak);
  await holdsAfter(soak, before, played);
  if (isCalm) holdsAfterACalmNight(soak, before, played);
}

function excuseWhatIsMissing(soak: Soak): void {
  const standing = wordsAt(soak, viewOf(soak));
  for (const { word } of soak.sayings) if (!standing.has(word)) soak.excused.add(word);
}
