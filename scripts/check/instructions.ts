import type { State } from '../state/database.ts';
import { evidenceByShortId } from '../state/evidence.ts';
import { contradiction, isComparable, isNearlySame } from '../workspace/contradictions.ts';
import { handbookPath } from '../workspace/layout.ts';
import { indexTexts } from '../workspace/near.ts';
import type { Finding } from './finding.ts';
import { type PlacedBullet, reasons } from './pairs.ts';
import { remedyOf } from './remedies.ts';
import type { AtHand } from './repositories.ts';

interface Instruction {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Lines of memory that a repository's own instructions (`AGENTS.md`, `CLAUDE.md`) contradict or say already. The
 * instructions win, unless the memory is a person's words and newer than they are: then they are what has to change.
 */
export async function instructionFindings(
  bullets: readonly PlacedBullet[],
  repositories: readonly AtHand[],
  state: State,
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const repository of repositories) {
    const own = bullets.filter(({ scope }) => repository.ids.includes(scope));
    const instructions = [...repository.instructions].flatMap(([path, text]) => instructionsIn(path, text));
    if (own.length === 0 || instructions.length === 0) continue;
    const index = indexTexts(instructions.map(({ text }) => bare(text)));
    for (const bullet of own) {
      const near = new Set([...index.of(bare(bullet.text)), ...preferencesAmong(instructions, bullet.text)]);
      for (const at of near) {
        const instruction = instructions[at];
        if (instruction === undefined) continue;
        const why = contradiction(instruction.text, bullet.text);
        const place = `${instruction.path}:${instruction.line}`;
        if (why !== null) {
          const isNewer = await isNewerAndHuman(bullet, instruction, repository, state);
          found.push(contradicting(bullet, `${reasons[why]} ${place} of ${bullet.scope}.`, isNewer));
        } else if (isNearlySame(instruction.text, bullet.text))
          found.push(
            finding('warning', 'instructions.repeats', bullet.line, `${place} of ${bullet.scope} says this already.`),
          );
      }
    }
  }
  return found;
}

/** A line or a sentence each, with its line. */
function instructionsIn(path: string, text: string): Instruction[] {
  let fenced = false;
  return text
    .slice(0, mostCharacters)
    .split('\n')
    .flatMap((source, index) => {
      if (/^\s{0,8}(?:```|~~~)/.test(source)) fenced = !fenced;
      if (fenced || /^\s*#/.test(source)) return [];
      return source
        .replace(/^\s*(?:[-*+]|\d{1,3}[.)])\s+/, '')
        .split(/(?<=[.!?;])\s|(?<=[。！？；])/)
        .filter(isComparable)
        .map((sentence) => ({ path, line: index + 1, text: sentence.trim() }));
    });
}

const mostCharacters = 200_000;

function preferencesAmong(instructions: readonly Instruction[], text: string): number[] {
  if (!preferring.test(text)) return [];
  return instructions.flatMap((one, at) => (preferring.test(one.text) ? [at] : []));
}

const preferring = / (?:over|instead of|rather than|not|statt|anstatt) /;

function bare(text: string): string {
  return text.replace(/\b(?:always|never|not|do|don['’]t|must|should|please)\b|必须|永远|不要|总是|请/gi, ' ');
}

async function isNewerAndHuman(
  { evidence }: PlacedBullet,
  { path }: Instruction,
  repository: AtHand,
  state: State,
): Promise<boolean> {
  const said = evidence.flatMap(({ thread, items }) =>
    evidenceByShortId(state, thread).filter(({ n, who }) => who === 'human' && items.includes(n)),
  );
  const last = Math.max(0, ...said.map(({ at }) => at ?? 0));
  if (last === 0) return false;
  const changed = await repository.changedAt(path);
  return changed !== null && last > changed;
}

function contradicting({ line }: PlacedBullet, message: string, isNewer: boolean): Finding {
  return isNewer
    ? finding(
        'warning',
        'instructions.contradicts',
        line,
        `${message} A person said it since: the file is what is old.`,
      )
    : finding('error', 'instructions.contradicts', line, `${message} The repository’s own instructions win.`);
}

function finding(severity: Finding['severity'], rule: string, line: number, message: string): Finding {
  return { severity, rule, path: handbookPath, line, message, remedy: remedyOf(rule) };
}
