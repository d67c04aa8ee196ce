import { jsonText, terminalText } from '../shared/escape.ts';
import type { Outcome } from './apply.ts';
import type { SkillOutcome } from './skills.ts';

/** What was done. */
export interface Report {
  readonly agent: string;
  readonly action: 'connected' | 'removed' | 'printed';
  readonly scope: string;
  /** The memory's folder or address; null where it does not matter. */
  readonly memory: string | null;
  readonly recall: boolean;
  readonly collect: boolean;
  readonly files: readonly { readonly path: string; readonly outcome: Outcome | 'printed'; readonly text?: string }[];
  readonly skills: readonly SkillOutcome[];
  /** The folder of the programs that hooks run; folders that were removed. */
  readonly pinned: readonly string[];
  /** What a person should know, or do next. */
  readonly notes: readonly string[];
}

export function reportJson(report: Report): string {
  return jsonText(report);
}

export function reportText({ agent, action, memory, recall, collect, files, skills, pinned, notes }: Report): string {
  if (action === 'printed')
    return files
      .map(({ path, text }) => `# ${terminalText(path)}\n${(text ?? '').split('\n').map(terminalText).join('\n')}`)
      .join('\n');
  const what = [...(recall ? ['recall'] : []), ...(collect ? ['collect'] : [])].join(' and ');
  const head = action === 'connected' ? `${agent}: ${what} of ${memory ?? ''}` : `${agent}: disconnected`;
  return [
    head,
    ...files.map(({ path, outcome }) => `  ${words[outcome]} ${path}`),
    ...skills.map(({ path, outcome, why }) => `  ${skillWords[outcome]} ${path}${why === null ? '' : `: ${why}`}`),
    ...pinned.map((folder) => `  ${action === 'removed' ? 'removed  ' : 'runs     '} ${folder}`),
    ...notes.map((note) => `  · ${note}`),
  ]
    .map(terminalText)
    .join('\n');
}

const words: Readonly<Record<Outcome | 'printed', string>> = {
  written: 'written  ',
  unchanged: 'unchanged',
  removed: 'restored ',
  absent: 'nothing of ours in',
  left: 'edited since, so left:',
  printed: '',
};

const skillWords: Readonly<Record<SkillOutcome['outcome'], string>> = {
  linked: 'linked   ',
  copied: 'copied   ',
  unchanged: 'unchanged',
  removed: 'removed  ',
  left: 'left     ',
};
