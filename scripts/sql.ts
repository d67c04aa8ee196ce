import { openRepository } from './git/open.ts';
import { type ExitCode, exitCodes, UsageError } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { CommandSpec, Flags } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { textTable } from './shared/text-table.ts';
import { answerCsv, answerTable } from './sql/answer.ts';
import { currentState } from './state/current.ts';
import type { State } from './state/database.ts';
import { query } from './state/query.ts';
import { tableFacts } from './state/schema.ts';

const example = 'select thread_id, repo, title from threads order by updated_at desc limit 5';

const spec: CommandSpec = {
  name: 'sql',
  purpose: 'Asks the state in SQL. It can only read. Without a query it lists the tables.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    json: { kind: 'switch', help: 'one JSON object: columns, rows, truncated' },
    csv: { kind: 'switch', help: 'CSV as RFC 4180 describes it, cells uncut' },
    limit: { kind: 'value', value: '<rows>', help: 'rows at most (default: 1000)' },
  },
  positionals: ['<query>'],
  examples: [
    'npm run sql',
    `npm run sql -- "${example}"`,
    'npm run --silent sql -- --csv "select * from runs" > runs.csv',
    'npm run sql -- "select key, last_error from jobs where status = \'error\'"',
  ],
};

const defaultLimit = 1_000;
const greatestLimit = 1_000_000;

await main(spec, sql);

async function sql({ flags, env, cwd, log }: World): Promise<ExitCode> {
  const limit = limitOf(flags);
  if (flags.isOn('json') && flags.isOn('csv'))
    throw new UsageError('--json and --csv exclude each other.', 'Give one of them.');
  const repository = await openRepository(flags.valueOf('repo') ?? cwd, { env });
  const current = await currentState(repository);
  if (current.from === 'none') log.warn('No night has run here, so every table is empty: npm run nightly.');
  const [text] = flags.positionals;
  if (text === undefined) {
    log.result(flags.isOn('json') ? jsonText({ tables: tableFacts(current.state) }) : tables(current.state));
    return exitCodes.done;
  }
  const answer = query(current.state, text, limit);
  if (flags.isOn('json')) log.result(jsonText(answer));
  else log.result(flags.isOn('csv') ? answerCsv(answer) : answerTable(answer));
  if (answer.truncated) log.warn(`Only the first ${limit} rows are shown; --limit <rows> asks for more.`);
  return exitCodes.done;
}

function limitOf(flags: Flags): number {
  const text = flags.valueOf('limit');
  if (text === undefined) return defaultLimit;
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > greatestLimit)
    throw new UsageError(`--limit does not take “${text}”.`, `It takes a number from 1 to ${greatestLimit}.`);
  return limit;
}

function tables(state: State): string {
  const rows = tableFacts(state).map(({ name, kind, columns, rows: count }) => [
    kind === 'view' ? `${name} (view)` : name,
    String(count),
    columns.join(', '),
  ]);
  const columns = [
    { name: 'table', align: 'left' },
    { name: 'rows', align: 'right' },
    { name: 'columns', align: 'left' },
  ] as const;
  return [...textTable(columns, rows, 1_000), '', `Try: npm run sql -- "${example}"`].join('\n');
}
