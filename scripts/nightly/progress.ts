import { stopwatch } from '../shared/clock.ts';
import type { Progress } from '../shared/log.ts';

/** Adds the time that is left to each stage's progress, reckoned from what the stage has done so far. */
export function withTimeLeft(show: (progress: Progress) => void): (progress: Progress) => void {
  let stage = '';
  let elapsed = stopwatch();
  return (progress) => {
    if (progress.stage !== stage) {
      stage = progress.stage;
      elapsed = stopwatch();
    }
    const left = timeLeft(elapsed(), progress.done, progress.total);
    show({ ...progress, note: [progress.note, left].filter((part) => part !== '').join(' · ') });
  };
}

/** `2 min left`; '' where there is nothing to reckon with, or nearly nothing left. @param elapsed in milliseconds. */
export function timeLeft(elapsed: number, done: number, total: number): string {
  if (done < 2 || done >= total) return '';
  const seconds = Math.round((elapsed / done / 1000) * (total - done));
  if (seconds < 5) return '';
  return seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`;
}
