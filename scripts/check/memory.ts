import type { Files } from '../shared/files.ts';
import { type Block, bulletsOf, parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { everywhere, handbookPath, type Scope } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { personsChanges } from '../workspace/persons.ts';
import { violations } from '../workspace/rules.ts';
import { scopesOf } from '../workspace/scope.ts';
import type { RuleContext } from '../workspace/violation.ts';
import type { Finding } from './finding.ts';
import { remedyOf } from './remedies.ts';

/** Every artifact rule that the memory files break. */
export function memoryFindings(files: Files, context: RuleContext): Finding[] {
  const broken = violations(files, context).map(
    ({ severity, rule, path, line, message }): Finding => ({
      severity,
      rule,
      path,
      line,
      message,
      remedy: remedyOf(rule),
    }),
  );
  const { blocks } = parseHandbook(files.get(handbookPath) ?? '');
  return [...broken, ...blocks.flatMap((block) => personsMarks(block, context))];
}

/**
 * The context in which lines that people wrote since the last night are theirs already, as the next night will say.
 * @param before the memory files as that night left them.
 */
export function withPeoplesLines(context: RuleContext, before: Files, now: Files): RuleContext {
  const added = new Set<string>();
  for (const scope of new Set([...scopesOf(now), everywhere]))
    for (const { hash } of personsChanges(before, now, scope).added) added.add(keyOf(scope, hash));
  return { ...context, isPersonLine: (of, hash) => added.has(keyOf(of, hash)) || context.isPersonLine(of, hash) };
}

/** A person's line needs no evidence, but a mark in it that names nothing is a slip worth telling. */
function personsMarks(block: Block, context: RuleContext): Finding[] {
  const scope = scopeOf(block);
  if (scope === null) return [];
  return bulletsOf(block)
    .filter(({ raw }) => context.isPersonLine(scope, lineHash(raw)))
    .flatMap(({ evidence, line }) =>
      evidence.flatMap(({ thread, items }) =>
        items
          .filter((item) => context.evidenceOf(thread, item) === null)
          .map((item) => ({
            severity: 'warning' as const,
            rule: 'evidence.unknown',
            path: handbookPath,
            line,
            message: `No session has the item [${thread}@${item}]; the line counts as its writer’s own.`,
            remedy: remedyOf('evidence.unknown'),
          })),
      ),
    );
}

function keyOf(scope: Scope, hash: string): string {
  return `${hash} ${scope}`;
}
