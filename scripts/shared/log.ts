import { appendFileSync } from 'node:fs';
import { terminalText, workflowProperty, workflowText } from './escape.ts';

/** A stream as `process` gives it. */
export interface Out {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** How far long work is. `done` and `total` count rollouts or scopes. */
export interface Progress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
  /** Further facts, such as tokens, cost and time left. */
  readonly note: string;
}

/** Where in the repository something is wrong. */
export interface Spot {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** A few words above the message. */
  readonly title: string;
}

/** The one thing that prints. Results go to standard output, everything else to standard error. */
export interface Log {
  /** Whether results may be coloured: standard output is a terminal that can, and nobody set `NO_COLOR`. */
  readonly isColoured: boolean;
  /** A command's result, as it is: already escaped by who made it. */
  result(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
  /** On GitHub Actions, or `always`, an annotation beside the line; elsewhere nothing, since the result says it. */
  annotate(kind: 'warning' | 'error', text: string, spot: Spot, always?: boolean): void;
  /** One line that is rewritten on a terminal; elsewhere a plain line at every tenth of the work. */
  progress(progress: Progress): void;
  /** Appends Markdown to the step summary, where the environment names one. */
  summary(markdown: string): void;
  /** Hands a value of one line to the later steps of a GitHub Actions job, where the environment names a file for it. */
  output(name: string, value: string): void;
}

/** @param environment `GITHUB_ACTIONS` turns warnings into annotations, `GITHUB_STEP_SUMMARY` names the summary file. */
export function createLog(stdout: Out, stderr: Out, environment: Readonly<Record<string, string | undefined>>): Log {
  let open = false;
  let tenth = '';
  const line = (text: string) => {
    if (open) stderr.write('\r\u001b[K');
    open = false;
    stderr.write(`${text}\n`);
  };
  const escaped = (text: string) => text.split('\n').map(terminalText).join('\n');
  const annotate = (kind: 'warning' | 'error', text: string) =>
    environment.GITHUB_ACTIONS === 'true'
      ? `::${kind}::${workflowText(text.replace(/\n/g, ' '))}`
      : `${kind}: ${escaped(text)}`;
  return {
    isColoured: stdout.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb',
    result: (text) => {
      if (open) line('');
      stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    },
    info: (text) => line(escaped(text)),
    warn: (text) => line(annotate('warning', text)),
    error: (text) => line(annotate('error', text)),
    annotate: (kind, text, { path, line: number, title }, always = false) => {
      if (!always && environment.GITHUB_ACTIONS !== 'true') return;
      const spot = `file=${workflowProperty(path)},line=${number},title=${workflowProperty(title)}`;
      line(`::${kind} ${spot}::${workflowText(text.replace(/\n/g, ' '))}`);
    },
    progress: ({ stage, done, total, note }) => {
      const text = terminalText(`${stage} ${done}/${total}${note === '' ? '' : ` · ${note}`}`);
      if (stderr.isTTY === true) {
        stderr.write(`\r\u001b[K${text.slice(0, Math.max(20, (stderr.columns ?? 80) - 1))}`);
        open = true;
        if (done === total) line(text);
        return;
      }
      const reached = `${stage} ${total === 0 ? 10 : Math.floor((done * 10) / total)}`;
      if (reached !== tenth) line(text);
      tenth = reached;
    },
    summary: (markdown) => {
      if (environment.GITHUB_STEP_SUMMARY) appendFileSync(environment.GITHUB_STEP_SUMMARY, `${markdown}\n`);
    },
    output: (name, value) => {
      if (environment.GITHUB_OUTPUT) appendFileSync(environment.GITHUB_OUTPUT, `${name}=${terminalText(value)}\n`);
    },
  };
}
