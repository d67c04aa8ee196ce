import { type BlockLine, labels, type Place, sectionHeadings, sectionNames } from './block-lines.ts';
import { evidenceViolations } from './evidence-rules.ts';
import { type Block, type Bullet, bulletsOf, scopeOf } from './handbook.ts';
import { type Header, splitHeader } from './inputs.ts';
import { everywhere, handbookPath, type Scope, summariesFolder } from './layout.ts';
import { lineHash, unitsOf } from './lines.ts';
import { parseReference, referenceFields } from './reference.ts';
import { textViolations, withoutQuotes } from './text-rules.ts';
import { error, type RuleContext, type Spot, type Violation, warning } from './violation.ts';

/** The headers of the summaries that references may name: `rollout_summaries/<stem>.md` → header. */
export type Summaries = ReadonlyMap<string, Header>;

export function summariesIn(files: ReadonlyMap<string, string>): Summaries {
  return new Map(
    [...files]
      .filter(([path]) => path.startsWith(summariesFolder))
      .map(([path, text]) => [path.slice('memories/'.length), splitHeader(text).header]),
  );
}

/** The rules of one task group: shape, references, bullets and their evidence. */
export function blockViolations(block: Block, context: RuleContext, summaries: Summaries): Violation[] {
  const spot = { path: handbookPath, block: block.title };
  const scope = scopeOf(block);
  return [
    ...textViolations(spot, block.raw, block.line),
    ...headViolations(spot, block, context.scope),
    ...orderViolations(spot, block),
    ...taskViolations(spot, block, context, summaries),
    ...foreignLines(spot, block, context),
    ...(scope === null ? [] : bulletViolations(spot, block, scope, context)),
    ...styleViolations(spot, block),
  ];
}

function headViolations(spot: Spot, block: Block, scope: Scope | null): Violation[] {
  const found: Violation[] = [];
  const line = (kind: BlockLine['kind']) => block.lines.find((candidate) => candidate.kind === kind)?.text ?? '';
  if (!block.isTaskGroup || block.title === '')
    found.push(error(spot, block.line, 'block.heading', 'A block begins with `# Task Group: <what it is about>`.'));
  if (block.scopeLine === '')
    found.push(error(spot, block.line, 'block.scope', 'The line `scope: …` is missing below the heading.'));
  if (!/^applies_to: repo=[^;\s]+; cwd=[^;]*[^;\s]; reuse_rule=.*\S/.test(line('applies_to'))) {
    const message = 'The line `applies_to: repo=…; cwd=…; reuse_rule=…` is missing or has another shape.';
    found.push(error(spot, block.line, 'block.applies_to', message));
  } else if (scope !== null && block.appliesTo.repo !== scope)
    found.push(error(spot, block.line, 'block.repo', `This consolidation may write blocks of repo=${scope} only.`));
  return found;
}

const order: readonly Place[] = ['head', 'task', 'preferences', 'knowledge', 'failures'];

function orderViolations(spot: Spot, block: Block): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  let furthest = 0;
  for (const [index, line] of block.lines.entries()) {
    if (line.kind !== 'task' && line.kind !== 'section') continue;
    const number = block.line + index;
    const rank = order.indexOf(line.place);
    if (rank < furthest)
      found.push(error(spot, number, 'block.order', 'Tasks come first, then preferences, knowledge, failures.'));
    if (line.kind === 'section' && seen.has(line.place))
      found.push(error(spot, number, 'block.order', `The section “${line.text.trim()}” stands twice.`));
    seen.add(line.place);
    furthest = Math.max(furthest, rank);
  }
  return found;
}

function taskViolations(spot: Spot, block: Block, context: RuleContext, summaries: Summaries): Violation[] {
  const found = block.tasks.flatMap((task, index) => {
    const own: Violation[] = [];
    if (task.number !== index + 1 || task.title === '')
      own.push(
        error(spot, task.line, 'task.heading', `This heading must be \`## Task ${index + 1}: <what, outcome>\`.`),
      );
    if (task.summaryFiles.length === 0)
      own.push(error(spot, task.line, 'task.references', `The task names no summary under \`${labels.references}\`.`));
    if (task.keywords.length === 0)
      own.push(
        error(spot, task.line, 'task.keywords', `The task has no line of keywords under \`${labels.keywords}\`.`),
      );
    return [...own, ...partViolations(spot, block, task.line - block.line, context, summaries)];
  });
  if (block.tasks.length === 0 && scopeOf(block) !== everywhere && !standsWithoutTask(block, context))
    found.push(error(spot, block.line, 'block.task', 'The block has no task: nothing says which sessions it is from.'));
  return found;
}

/** A block outlives its sessions' summaries where persons' words and notes alone are left in it. */
export function standsWithoutTask(block: Block, context: RuleContext): boolean {
  const scope = scopeOf(block) ?? '';
  const bullets = bulletsOf(block);
  return (
    bullets.length > 0 &&
    bullets.every(
      (bullet) =>
        context.isPersonLine(scope, lineHash(bullet.raw)) || isHumanStated(bullet, context) || isNoted(bullet, context),
    )
  );
}

/** Whether one of the bullet's items is a person's words. */
export function isHumanStated(bullet: Pick<Bullet, 'evidence'>, context: RuleContext): boolean {
  return bullet.evidence.some(({ thread, items }) =>
    items.some((item) => context.evidenceOf(thread, item)?.who === 'human'),
  );
}

/** Whether the bullet rests on a note or a resource, which has no summary to refer to. */
export function isNoted(bullet: Pick<Bullet, 'evidence'>, context: RuleContext): boolean {
  return bullet.evidence.some(({ thread, items }) =>
    items.some((item) => context.evidenceOf(thread, item)?.isNote === true),
  );
}

/** References and keywords from a task's heading (an index into the block's lines) to the next heading. */
function partViolations(
  spot: Spot,
  block: Block,
  from: number,
  context: RuleContext,
  summaries: Summaries,
): Violation[] {
  const found: Violation[] = [];
  let keywords = 0;
  for (let at = from + 1; at < block.lines.length; at += 1) {
    const line = block.lines[at];
    if (line === undefined || line.kind === 'task' || line.kind === 'section') break;
    if (line.kind === 'reference') found.push(...referenceViolations(spot, block, at, context, summaries));
    if (line.kind === 'keywords') keywords += 1;
  }
  if (keywords > 1)
    found.push(error(spot, block.line + from, 'task.keywords', 'Keywords stand on one line, separated by commas.'));
  return found;
}

function referenceViolations(
  spot: Spot,
  block: Block,
  at: number,
  context: RuleContext,
  summaries: Summaries,
): Violation[] {
  const number = block.line + at;
  const reference = parseReference(block.lines[at]?.text ?? '');
  if (reference === null)
    return [error(spot, number, 'reference.shape', 'A reference is `- rollout_summaries/<file>.md (cwd=…, …)`.')];
  const missing = referenceFields.filter((name) => (reference.fields[name] ?? '') === '');
  if (missing.length > 0)
    return [error(spot, number, 'reference.fields', `The reference does not give ${missing.join(', ')}.`)];
  // The projection of `*` holds no summaries, so there it cannot be told.
  if (context.scope === everywhere) return [];
  const header = summaries.get(reference.file);
  if (header === undefined) return [error(spot, number, 'reference.exists', `There is no summary ${reference.file}.`)];
  if (scopeOf(block) !== everywhere && header.repo !== scopeOf(block))
    return [error(spot, number, 'reference.scope', `${reference.file} is of ${header.repo ?? 'another repository'}.`)];
  const wrong = referenceFields.filter((name) => reference.fields[name] !== header[name]);
  if (wrong.length === 0) return [];
  return [error(spot, number, 'reference.fields', `${wrong.join(', ')} differ from what the summary says.`)];
}

/** Prose and headings that the schema has no place for: persons may add them, an agent may not. */
function foreignLines(spot: Spot, block: Block, context: RuleContext): Violation[] {
  const scope = scopeOf(block) ?? '';
  return unitsOf(block)
    .filter((unit) => unit.kind !== 'bullet' || !isScheduled(unit.heading))
    .filter((unit) => !context.isPersonLine(scope, unit.hash))
    .map((unit) => {
      const message = 'Only the lines of the schema and bullets of the three sections may stand in a block.';
      return error(spot, unit.line, 'block.prose', message);
    });
}

function isScheduled(heading: string): boolean {
  return Object.values(sectionHeadings).some((known) => known.toLowerCase() === heading.toLowerCase());
}

function bulletViolations(spot: Spot, block: Block, scope: Scope, context: RuleContext): Violation[] {
  return sectionNames.flatMap((section) =>
    block[section]
      .filter((bullet) => !context.isPersonLine(scope, lineHash(bullet.raw)))
      .flatMap((bullet) => evidenceViolations(spot, scope, section, bullet, context)),
  );
}

const bold = /(?<![\w/*])\*\*(?![\s/*])[^*\n]{1,300}\*\*(?![/*\w])/;
const placeholder = /(?<![\w`])<[a-z][a-z0-9 _./-]{0,60}>/i;

function styleViolations(spot: Spot, block: Block): Violation[] {
  return block.lines.flatMap((line, index) => {
    if (line.fenced || line.kind === 'blank') return [];
    const number = block.line + index;
    const said = withoutQuotes(line.text);
    const found: Violation[] = [];
    if (/^[*+][ \t]/.test(line.text)) found.push(warning(spot, number, 'bullet.marker', 'Bullets begin with `- `.'));
    if (bold.test(said)) found.push(warning(spot, number, 'bullet.bold', 'Nothing is set in bold.'));
    if (placeholder.test(said))
      found.push(warning(spot, number, 'bullet.placeholder', 'A placeholder in angle brackets was left in.'));
    return found;
  });
}
