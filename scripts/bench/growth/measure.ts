import { isMissingProgram } from '../../git/program.ts';
import type { World } from '../../shared/main.ts';
import { teaching } from '../load/teaching.ts';
import { type History, openHistory } from './history.ts';
import type { Growth, Packed } from './report.ts';
import { type Month, monthOf, playYear, type Year } from './year.ts';

export interface Plan extends Omit<Year, 'taught'> {
  /** The last nights, which are committed to a real repository and packed. */
  readonly committed: number;
}

/** A host packs what is pushed to it at least as often. */
const nightsToPack = 7;

/** How the state and a repository grow. @param folder empty, for the repository. */
export async function measureGrowth(
  plan: Plan,
  folder: string,
  world: Pick<World, 'env'>,
  progress: (night: number) => void,
): Promise<Growth> {
  const months: Month[] = [];
  const first = plan.nights - plan.committed + 1;
  let history: History | null = null;
  let packed: Packed | null = null;
  await playYear({ ...plan, taught: await teaching() }, async (books) => {
    progress(books.night);
    if (books.night % 30 === 0 || books.night === plan.nights) months.push(monthOf(books));
    if (books.night < first) return;
    if (books.night === first) history = await openOrNull(folder, world);
    if (history === null) return;
    await history.commit(books);
    const isLast = books.night === plan.nights;
    if (!isLast && (books.night - first) % nightsToPack !== 0) return;
    const bytes = await history.packed();
    packed ??= { from: first, to: first, first: bytes, last: bytes };
    if (isLast) packed = { ...packed, to: plan.nights, last: bytes };
  });
  return { months, packed };
}

async function openOrNull(folder: string, world: Pick<World, 'env'>): Promise<History | null> {
  try {
    return await openHistory(folder, world);
  } catch (error) {
    if (isMissingProgram(error)) return null;
    throw error;
  }
}
