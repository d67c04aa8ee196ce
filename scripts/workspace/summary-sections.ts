import { followFences } from './block-lines.ts';

/** The four headings of `memory_summary.md`, in their order. */
export const summaryHeadings = {
  profile: '## User Profile',
  preferences: '## User preferences',
  tips: '## General Tips',
  contents: "## What's in Memory",
} as const;

export interface SummarySection {
  /** As written; '' for what precedes the first. */
  readonly heading: string;
  /** Of the heading, from 1. */
  readonly line: number;
  /** The lines below it that are not blank. */
  readonly lines: readonly { readonly text: string; readonly line: number }[];
}

export function summarySections(text: string): SummarySection[] {
  const sections: { heading: string; line: number; lines: { text: string; line: number }[] }[] = [
    { heading: '', line: 1, lines: [] },
  ];
  const fences = followFences();
  for (const [index, source] of text.split('\n').entries()) {
    const line = source.trimEnd();
    const fenced = fences.cover(line);
    if (!fenced && /^##[ \t]/.test(line)) sections.push({ heading: line, line: index + 1, lines: [] });
    else if (line !== '') sections.at(-1)?.lines.push({ text: line, line: index + 1 });
  }
  return sections;
}
