import { aHistory, type History, peopleStep } from './history.ts';
import { lastNights, nightStep } from './history-rules.ts';

/** Plays a random history of so many steps, a night after each few, and two quiet nights at its end. @throws what broke, with the steps that led there. */
export async function playHistory(seed: number, steps: number): Promise<History> {
  const history = await aHistory(seed);
  try {
    await peopleStep(history, 'says');
    await nightStep(history);
    for (let step = 0; step < steps; step += 1) {
      if (history.lots.percent(40)) await nightStep(history);
      else await peopleStep(history);
    }
    await lastNights(history);
  } catch (error) {
    throw new Error(`seed ${seed}: ${history.steps.join(', ')}`, { cause: error });
  }
  return history;
}
