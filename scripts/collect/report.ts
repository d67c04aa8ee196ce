import { isoTime } from '../shared/clock.ts';
import { terminalText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import { type TableColumn, textTable } from '../shared/text-table.ts';
import type { LeftOut } from './decide.ts';
import type { CarriedNotes } from './notes.ts';
import type { CollectReport, Sent } from './run.ts';

const words: Readonly<Record<LeftOut, string>> = {
  sub_agent: 'a sub-agent’s',
  ephemeral: 'ephemeral',
  own_run: 'a night’s own run',
  origin_excluded: 'exclude_origins names how it was started',
  repository_excluded: 'exclude names its repository',
  repository_not_included: 'include of .github/memory.yml does not name its repository',
  no_consent: 'this laptop’s collect.yml does not allow its repository',
  opted_out: 'opted out',
  no_human_words: 'nobody said anything',
  too_old: 'older than rollouts.retention_days',
};

/** For a terminal. A dry run shows each session; a real one counts them. */
export function collectText(report: CollectReport, notes: CarriedNotes, isDryRun: boolean): string {
  const leaving = report.sent.filter(isLeaving);
  const head = isDryRun
    ? `${count(leaving.length, 'session')} would leave this machine${withoutSecrets(leaving)}.`
    : `Sent ${count(leaving.length, 'session')}${withoutSecrets(leaving)}.`;
  return [
    head,
    ...(isDryRun && leaving.length > 0 ? ['', ...textTable(columns, leaving.map(row), 60), ''] : []),
    ...lines(report),
    ...noteLines(notes, isDryRun),
    ...(isDryRun && report.notAllowed.size > 0
      ? ['', 'Repositories of sessions that stayed, since not both files name them', ...repositories(report)]
      : []),
  ].join('\n');
}

export function collectJson(report: CollectReport, notes: CarriedNotes, isDryRun: boolean): object {
  return {
    outcome: isDryRun
      ? 'dry_run'
      : report.failed.length > 0
        ? 'partly'
        : report.sent.some(isLeaving) || notes.carried.some(({ outcome }) => outcome === 'added')
          ? 'sent'
          : 'quiet',
    sessions: report.sent.map(({ outcome, thread, items, bytes, secrets }) => ({
      outcome,
      thread: thread.id,
      agent: thread.agent,
      repo: thread.repo,
      author: thread.author,
      title: thread.title,
      updated_at: isoTime(thread.updatedAt),
      items,
      bytes,
      secrets,
    })),
    left_out: report.leftOut,
    not_allowed: Object.fromEntries(report.notAllowed),
    unchanged: report.unchanged,
    no_session: report.noSession,
    failed: report.failed,
    notes: notes.carried,
    notes_left_out: notes.stayed,
  };
}

function noteLines({ carried, stayed }: CarriedNotes, isDryRun: boolean): string[] {
  const added = carried.filter(({ outcome }) => outcome === 'added');
  const forgotten = carried.filter(({ outcome }) => outcome === 'tombstoned').length;
  return [
    ...(added.length === 0 ? [] : [`${count(added.length, 'note')} ${isDryRun ? 'would be sent' : 'sent'}.`]),
    ...(isDryRun ? added.map(({ name, repo }) => terminalText(`  ${name}  ${repo}`)) : []),
    ...(forgotten === 0 ? [] : [`${count(forgotten, 'note')} forgotten by the team: never sent.`]),
    ...stayed.map(({ name, why }) => terminalText(`note stayed: ${name} (${why})`)),
  ];
}

const columns: readonly TableColumn[] = [
  { name: 'session', align: 'left' },
  { name: 'repository', align: 'left' },
  { name: 'items', align: 'right' },
  { name: 'bytes', align: 'right' },
  { name: 'secrets removed', align: 'left' },
  { name: 'title', align: 'left' },
];

function row({ thread, items, bytes, secrets }: Sent): string[] {
  const removed = Object.entries(secrets).map(([rule, times]) => `${rule} ${times}`);
  return [thread.id, thread.repo, String(items), String(bytes), removed.join(', ') || '–', thread.title];
}

function lines({ sent, leftOut, unchanged, noSession, failed }: CollectReport): string[] {
  const outcome = (name: Sent['outcome']): number => sent.filter((one) => one.outcome === name).length;
  const known = outcome('same') + outcome('newer_there');
  return [
    ...(unchanged > 0 ? [`${count(unchanged, 'file')} unchanged since the last time.`] : []),
    ...(known > 0 ? [`${count(known, 'session')} there already.`] : []),
    ...(outcome('tombstoned') > 0
      ? [`${count(outcome('tombstoned'), 'session')} forgotten by the team: never sent.`]
      : []),
    ...(outcome('expired') > 0 ? [`${count(outcome('expired'), 'session')} expired meanwhile.`] : []),
    ...Object.entries(leftOut).map(
      ([why, times]) => `${count(times ?? 0, 'session')} stayed: ${words[why as LeftOut]}.`,
    ),
    ...(noSession > 0 ? [`${count(noSession, 'file')} that held no session of their own.`] : []),
    ...failed.map(({ path, why }) => terminalText(`not read: ${path} (${why})`)),
  ];
}

function repositories({ notAllowed }: CollectReport): string[] {
  const rows = [...notAllowed].sort((a, b) => b[1] - a[1] || byBinary(a[0], b[0]));
  const shown: readonly TableColumn[] = [
    { name: 'repository', align: 'left' },
    { name: 'sessions', align: 'right' },
  ];
  return textTable(
    shown,
    rows.map(([repo, times]) => [repo, String(times)]),
    100,
  );
}

function isLeaving({ outcome }: Sent): boolean {
  return outcome === 'added' || outcome === 'grown';
}

function withoutSecrets(sent: readonly Sent[]): string {
  const secrets = sent.reduce(
    (sum, { secrets }) => sum + Object.values(secrets).reduce((all, times) => all + times, 0),
    0,
  );
  return secrets === 0 ? '' : `, without ${count(secrets, 'secret')}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
