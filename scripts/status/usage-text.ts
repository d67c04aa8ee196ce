import { isoTime } from '../shared/clock.ts';
import { terminalText } from '../shared/escape.ts';
import { cut, type TableColumn, textTable } from '../shared/text-table.ts';
import type { Usage, Use } from './usage.ts';

/** How the memory is used, in tables for a person. Words of sessions are escaped. */
export function usageText({ windowDays, threads, blocks, agents }: Usage): string {
  if (threads.length + blocks.length === 0) return 'There is no memory yet: npm run nightly.';
  const uncited = threads.filter(({ cited }) => cited === 0).length;
  const shown = threads.slice(0, shownThreads);
  const more = threads.length - shown.length;
  return [
    `use of the memory in the last ${windowDays} days: sessions that found, were given and read it; people's days on which it was cited`,
    agents.length === 0
      ? 'agents     none was given memory'
      : `agents     ${agents.map(({ agent, injected, citing }) => `${terminalText(agent)}: ${injected} sessions given memory, ${citing} cite`).join('; ')}`,
    ...(blocks.length === 0
      ? []
      : [
          '',
          ...table(
            'block',
            blocks.map((block) => [`${handbook}:${block.line}`, block.title, block]),
          ),
        ]),
    ...(threads.length === 0
      ? []
      : [
          '',
          ...table(
            'session',
            shown.map((thread) => [thread.shortId, thread.title, thread]),
          ),
        ]),
    ...(more > 0 ? [`… and ${more} more; --json names all`] : []),
    '',
    `${uncited} of ${threads.length} sessions' memories were not cited. They are forgotten once that is so for ${windowDays} days, except where a person's words stand behind them.`,
  ].join('\n');
}

/** The same for machines: times are epoch seconds. */
export function usageJson({ windowDays, threads, blocks, agents }: Usage): Record<string, unknown> {
  const use = ({ retrieved, injected, read, cited, last }: Use) => ({
    retrieved,
    injected,
    read,
    cited,
    last_at: last,
  });
  return {
    window_days: windowDays,
    threads: threads.map((thread) => ({
      thread_id: thread.threadId,
      short_id: thread.shortId,
      repo: thread.repo,
      title: thread.title,
      ...use(thread),
    })),
    blocks: blocks.map((block) => ({
      line: block.line,
      title: block.title,
      repo: block.repo,
      threads: block.threads,
      ...use(block),
    })),
    agents,
  };
}

/** Sessions that are named; --json names all. */
const shownThreads = 40;
const handbook = 'MEMORY.md';

function table(name: string, rows: readonly (readonly [string, string, Use])[]): string[] {
  const columns: readonly TableColumn[] = [
    { name, align: 'left' },
    { name: 'found', align: 'right' },
    { name: 'given', align: 'right' },
    { name: 'read', align: 'right' },
    { name: 'cited', align: 'right' },
    { name: 'last', align: 'left' },
    { name: 'about', align: 'left' },
  ];
  const cells = rows.map(([id, title, { retrieved, injected, read, cited, last }]) => [
    id,
    String(retrieved),
    String(injected),
    String(read),
    String(cited),
    last === null ? 'never' : isoTime(last),
    cut(title.replace(/\s+/g, ' '), 60),
  ]);
  return textTable(columns, cells, 60);
}
