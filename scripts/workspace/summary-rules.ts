import { parseEvidence, withoutEvidence } from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { endsInEvidence } from './evidence-rules.ts';
import { type Block, bulletsOf, parseHandbook, scopeOf } from './handbook.ts';
import { everywhere, handbookPath, memorySummaryPath, sizeLimits } from './layout.ts';
import { lineHash, normaliseLine } from './lines.ts';
import { indexTexts } from './near.ts';
import { type SummarySection, summaryHeadings, summarySections } from './summary-sections.ts';
import { textViolations } from './text-rules.ts';
import { judgeLine } from './verdicts.ts';
import { error, type RuleContext, type Violation, warning } from './violation.ts';

const spot = { path: memorySummaryPath, block: null };

/** The rules of the one file that every session is given. */
export function summaryViolations(text: string, files: Files, context: RuleContext): Violation[] {
  const sections = summarySections(text);
  const blocks = parseHandbook(files.get(handbookPath) ?? '').blocks;
  return [
    ...textViolations(spot, text),
    ...shapeViolations(text, sections),
    ...profileViolations(sections, context),
    ...sourceViolations(sections, blocks, context),
    ...contentsViolations(sections, context.scope === null ? blocks : []),
  ];
}

function shapeViolations(text: string, sections: readonly SummarySection[]): Violation[] {
  const found: Violation[] = [];
  if (text.split('\n')[0]?.replace(/\r$/, '') !== 'v1')
    found.push(error(spot, 1, 'summary.version', 'The first line must be `v1` and nothing else.'));
  if (
    sections.slice(1).some(({ heading }, index) => heading !== Object.values(summaryHeadings)[index]) ||
    sections.length !== 5
  )
    found.push(
      error(
        spot,
        1,
        'summary.headings',
        `The headings must be ${Object.values(summaryHeadings).join(', ')}, in this order.`,
      ),
    );
  if ((sections[0]?.lines.length ?? 0) > 1)
    found.push(error(spot, 2, 'summary.headings', 'Nothing may stand between `v1` and the first heading.'));
  if (text.length > sizeLimits.summaryCharacters)
    found.push(
      error(spot, 1, 'summary.size', `${text.length} characters; at most ${sizeLimits.summaryCharacters} are allowed.`),
    );
  return found;
}

function profileViolations(sections: readonly SummarySection[], context: RuleContext): Violation[] {
  const lines = linesUnder(sections, summaryHeadings.profile);
  if (context.audience === 'person') return [];
  return lines.map(({ line }) =>
    error(spot, line, 'summary.profile', 'A team’s memory holds no profile of a person: leave this section empty.'),
  );
}

/** Every line that tells sessions what to do stands in a `*` block as well, or cites its evidence, or is a person's. */
function sourceViolations(
  sections: readonly SummarySection[],
  blocks: readonly Block[],
  context: RuleContext,
): Violation[] {
  const known = blocks.filter((block) => scopeOf(block) === everywhere).flatMap(bulletsOf);
  const index = indexTexts(known.map(({ text }) => normaliseLine(text)));
  return [summaryHeadings.preferences, summaryHeadings.tips]
    .flatMap((heading) => linesUnder(sections, heading))
    .filter(({ text }) => !context.isPersonLine(everywhere, lineHash(text)))
    .flatMap(({ text, line }) => {
      if (!text.startsWith('- '))
        return [error(spot, line, 'summary.bullet', 'Write it as one line that begins with `- `.')];
      if (endsInEvidence(text)) {
        const unknown = parseEvidence(text).some(({ thread, items }) =>
          items.some((item) => context.evidenceOf(thread, item) === null),
        );
        if (unknown) return [error(spot, line, 'evidence.unknown', 'No session has an item that this line cites.')];
        return wordViolations(text, line, context);
      }
      if (index.of(normaliseLine(text)).length > 0) return [];
      const message = 'The line stands in no block that applies to `*`, and cites no evidence.';
      return [error(spot, line, 'summary.source', message)];
    });
}

function wordViolations(text: string, line: number, { sessionOf }: RuleContext): Violation[] {
  if (sessionOf === undefined) return [];
  const words = withoutEvidence(text).replace(/^- /, '').trim();
  const { faults } = judgeLine({ text: words, section: 'none', evidence: parseEvidence(text) }, sessionOf);
  return faults.map(({ rule, message }) => error(spot, line, rule, message));
}

function contentsViolations(sections: readonly SummarySection[], blocks: readonly Block[]): Violation[] {
  const seen = new Set<string>();
  const found = linesUnder(sections, summaryHeadings.contents).flatMap(({ text, line }) => {
    const repo = /^- ([^\s:]{1,200}(?::[^\s:]{1,100})?)(?:: |$)/.exec(text)?.[1];
    if (repo === undefined)
      return [error(spot, line, 'summary.contents', 'Each line here is `- <repository>: topics and keywords`.')];
    if (seen.has(repo)) return [error(spot, line, 'summary.contents', `${repo} has a line already: one a repository.`)];
    seen.add(repo);
    return [];
  });
  const scopes = new Set(blocks.map(scopeOf).filter((scope) => scope !== null && scope !== everywhere));
  const missing = [...scopes]
    .filter((scope) => scope !== null && !seen.has(scope))
    .sort((a, b) => byBinary(a ?? '', b ?? ''));
  return [
    ...found,
    ...missing.map((scope) =>
      warning(spot, 1, 'summary.contents', `${scope} has blocks in the handbook but no line here.`),
    ),
  ];
}

function linesUnder(sections: readonly SummarySection[], heading: string): SummarySection['lines'] {
  return sections.filter((section) => section.heading === heading).flatMap(({ lines }) => lines);
}
