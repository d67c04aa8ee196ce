import { day, type EpochSeconds } from '../shared/clock.ts';
import type { Status } from '../status/facts.ts';
import { type Concern, concernsOf } from '../status/warnings.ts';
import type { Finding } from './finding.ts';

export interface NightFacts {
  readonly status: Status;
  /** Sessions of this machine's sources that would be read now. */
  readonly ready: number;
  /** Whether a night is at work on this machine: then what it has begun is no left-over. */
  readonly isAtWork: boolean;
}

/** What nights have left: stuck, given up, failing again and again, standing still, too large. */
export function nightFindings({ status, ready, isAtWork }: NightFacts, now: EpochSeconds): Finding[] {
  const concerns = concernsOf(status, ready, now).filter(({ kind }) => !isAtWork || kind !== 'stuck');
  return [
    ...concerns.map((concern) => findingOf(concern, status)),
    ...exhausted(status),
    ...failing(status),
    ...(isAtWork ? [] : leftOvers(status)),
  ];
}

const whys: Readonly<Record<Concern['kind'], string>> = {
  frozen: 'The pipeline stands still.',
  stuck: 'The night that worked on them died.',
  size: 'Every night writes it anew, and hosts refuse large files.',
  money: 'Nights stop paying when it is spent.',
  pending: 'Nobody can review what it learned.',
  died: 'The same session may end every night.',
  journal: 'What was paid for may be paid for again.',
};

function findingOf({ kind, what, remedy }: Concern, { sizeVerdict }: Status): Finding {
  const isError = kind === 'frozen' || (kind === 'size' && sizeVerdict === 'stop');
  const remedies: Partial<Record<Concern['kind'], string>> = {
    frozen: 'npm run nightly (it says why nothing is read), npm run status',
    pending: 'npm run publish (with delivery commit: npm run nightly)',
    died: 'npm run status',
    journal: 'npm run status',
  };
  return {
    severity: isError ? 'error' : 'warning',
    check: `night.${kind}`,
    what,
    why: whys[kind],
    remedy: remedies[kind] ?? remedy,
  };
}

/** Ids that are named; status names all. */
const named = 3;

function exhausted({ sessions }: Status): Finding[] {
  const given = sessions.failed.filter(({ retriesLeft }) => retriesLeft === 0);
  const [first] = given;
  if (first === undefined) return [];
  const ids = given.slice(0, named).map(({ threadId }) => threadId);
  const more = given.length > named ? ` and ${given.length - named} more` : '';
  return [
    {
      severity: 'warning',
      check: 'night.exhausted',
      what: `${given.length} sessions are given up (${ids.join(', ')}${more}); the last error: ${first.error}`,
      why: 'What they taught is lost unless they go on.',
      remedy: 'npm run status names each with its error; when that is mended: npm run nightly -- --now',
    },
  ];
}

/** After so many failures on the same input paying stops. */
const failuresThatStop = 3;

function failing({ scopes }: Status): Finding[] {
  return scopes
    .filter(({ failures }) => failures > 1)
    .map(({ scope, failures, lastError }) => ({
      severity: failures >= failuresThatStop ? 'error' : 'warning',
      check: 'night.scope_fails',
      what: `Consolidating ${scope} failed ${failures} times on the same input: ${lastError ?? 'no error is recorded'}`,
      why: 'Its new sessions do not reach the memory as they should.',
      remedy: `npm run check, then npm run phase2 -- --now`,
    }));
}

function leftOvers({ journal }: Status): Finding[] {
  if (journal.answers === 0) return [];
  return [
    {
      severity: 'warning',
      check: 'night.journal',
      what: `${journal.answers} answers of a night that did not end wait in the journal (${journal.tokens} tokens)`,
      why: 'They are paid for and reach nobody.',
      remedy: 'npm run nightly (it uses them)',
    },
  ];
}

export interface ScheduleFacts {
  /** Whether `.github/workflows/nightly.yml` is there and the clone has a remote. */
  readonly hasSchedule: boolean;
  /** When the last night that left anything ended; null: none did. */
  readonly lastNight: EpochSeconds | null;
  /** The default branch's last commit here. */
  readonly lastCommit: EpochSeconds | null;
  /** Whether the host says so. */
  readonly isPublic: boolean;
}

/** Days without a night after which a nightly schedule does not run. */
const quietDays = 3;
/** GitHub's limit is 60. */
const pauseDays = 50;

/** A schedule that does not run, or will not for long. */
export function scheduleFindings(facts: ScheduleFacts, now: EpochSeconds): Finding[] {
  if (!facts.hasSchedule) return [];
  const { lastNight, lastCommit, isPublic } = facts;
  const found: Finding[] = [];
  const since = lastNight ?? lastCommit;
  const quiet = since === null ? 0 : Math.floor((now - since) / day);
  if (quiet > quietDays)
    found.push({
      severity: 'warning',
      check: 'schedule.quiet',
      what:
        lastNight === null
          ? 'No night has left anything yet'
          : `The last night that left anything was ${quiet} days ago`,
      why: 'Either nobody’s sessions arrive, or nightly.yml does not run.',
      remedy: 'gh run list --workflow nightly.yml, then gh workflow enable nightly.yml; on laptops: npm run collect',
    });
  const still = lastCommit === null ? 0 : Math.floor((now - lastCommit) / day);
  if (still >= pauseDays && isPublic)
    found.push({
      severity: 'warning',
      check: 'schedule.pause',
      what: `The default branch has had no commit for ${still} days`,
      why: 'In a public repository GitHub switches schedules off after 60 days.',
      remedy: 'Merge the memory’s pull request, or gh workflow enable nightly.yml',
    });
  return found;
}
