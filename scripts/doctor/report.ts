import { jsonText, terminalText } from '../shared/escape.ts';
import type { Adopted } from './adopt.ts';
import type { Finding } from './finding.ts';

/** One finding a line: what is wrong, why it matters, what to do. */
export function doctorText(findings: readonly Finding[], offline: boolean): string {
  if (findings.length === 0)
    return offline ? 'Nothing is wrong on this machine; servers were not asked.' : 'Nothing is wrong.';
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ severity, check, what, why, remedy }) => {
      const words = [what, why].map((text) => sentence(oneLine(text))).join(' ');
      return `${severity.padEnd(7)}  ${check.padEnd(width)}  ${words} → ${oneLine(remedy)}`;
    })
    .join('\n');
}

export function doctorJson(findings: readonly Finding[]): string {
  const isWell = findings.every(({ severity }) => severity !== 'error');
  return jsonText({ outcome: isWell ? 'well' : 'ill', findings });
}

/** What going on with one side did, and what is left to do. */
export function adoptedText(side: 'remote' | 'local', adopted: Adopted): string {
  if (adopted.outcome === 'nothing') return `Nothing to adopt: ${adopted.why}.`;
  const { state, kept, other } = adopted;
  return [
    `state  ${state.slice(0, 12)} here and on the remote: the ${side} one`,
    `kept   of the other: ${kept.tombstones} forgotten, ${kept.citations} citations, ${kept.lines} pinned lines`,
    ...(other === null ? [] : [`other  ${other} (in this clone)`]),
    ...(side === 'local' ? ['next   push the branch that it belongs to: git push origin HEAD'] : []),
  ].join('\n');
}

function oneLine(text: string): string {
  return terminalText(text.replace(/\s{1,999}/g, ' ').trim());
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
