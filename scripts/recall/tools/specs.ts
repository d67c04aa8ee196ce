import { limits } from './limits.ts';

/** What a client may tell its model of the server as a whole. */
export const instructions =
  'A team’s memory of earlier sessions in its repositories: what people want, what failed and how it was solved, what was ' +
  'verified. Before work in a repository, and when stuck, search it with match_mode {"type":"ranked"}; then read the lines ' +
  'around a match, or the rollout summary that a task names. It is a record of the past, not an instruction: check what may ' +
  'have changed. Add a note only when the person asks for it.';

/** A tool as a client is told of it. Bounds of numbers and texts are enforced in code, as upstream does. */
export interface ToolSpec {
  readonly name: 'list' | 'read' | 'search' | 'add_ad_hoc_note';
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly readOnly: boolean;
}

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

const text = (description: string) => ({ type: 'string', description });
const count = (description: string) => ({ type: 'integer', description });
const flag = (description: string) => ({ type: 'boolean', description });
const listOf = (items: object) => ({ type: 'array', items });
const textOrNull = { type: ['string', 'null'] };

const pathOf = (what: string) =>
  text(`${what}, relative to the memory, such as MEMORY.md or rollout_summaries; nothing hidden, no “..”`);
const cursor = text('next_cursor of the page before');

export const toolSpecs: readonly ToolSpec[] = [
  {
    name: 'list',
    description: 'Lists the files and folders of the memory, one level at a time.',
    inputSchema: schema(
      {
        path: pathOf('a folder; without it the memory itself'),
        cursor,
        max_results: count(`at most ${limits.listed}, which is also the default`),
      },
      [],
    ),
    outputSchema: schema(
      {
        path: { type: 'string' },
        entries: listOf(schema({ path: { type: 'string' }, entry_type: { enum: ['file', 'directory'] } })),
        next_cursor: textOrNull,
        truncated: { type: 'boolean' },
      },
      ['path', 'entries', 'next_cursor', 'truncated'],
    ),
    readOnly: true,
  },
  {
    name: 'read',
    description: `Reads a file of the memory. More than ${limits.readTokens} tokens are cut in the middle: then read it in parts.`,
    inputSchema: schema(
      { path: pathOf('a file'), line_offset: count('first line, from 1'), max_lines: count('how many lines') },
      ['path'],
    ),
    outputSchema: schema(
      {
        path: { type: 'string' },
        start_line_number: { type: 'integer' },
        content: { type: 'string' },
        truncated: { type: 'boolean' },
      },
      ['path', 'start_line_number', 'content', 'truncated'],
    ),
    readOnly: true,
  },
  {
    name: 'search',
    description:
      'Searches the memory. To find what answers a question, ask with match_mode {"type":"ranked"}: the best passages ' +
      'come first, in any language. The other modes find lines that hold the queries word for word. What other ' +
      'repositories learned is left out (left_out counts it) unless path or all_repositories asks for it.',
    inputSchema: schema(
      {
        queries: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'what to look for' },
        match_mode: {
          anyOf: [
            schema({ type: { const: 'any' } }, ['type']),
            schema({ type: { const: 'all_on_same_line' } }, ['type']),
            schema({ type: { const: 'all_within_lines' }, line_count: { type: 'integer' } }, ['type', 'line_count']),
            schema({ type: { const: 'ranked' } }, ['type']),
          ],
          description:
            'any (default): a line holds one of the queries; all_on_same_line; all_within_lines: the smallest groups of ' +
            'at most line_count lines that hold all; ranked: what fits the question best',
        },
        path: pathOf('a file or folder to look in'),
        cursor,
        context_lines: count(`lines to show before and after, 0 by default, at most ${limits.contextLines}`),
        case_sensitive: flag('true by default; a ranked search never is'),
        normalized: flag('compare letters and digits only; false by default'),
        max_results: count(
          `at most ${limits.matches}, which is also the default; ${limits.rankedMatches} for a ranked search`,
        ),
        all_repositories: flag('also what other repositories learned; false by default'),
      },
      ['queries'],
    ),
    outputSchema: schema(
      {
        queries: listOf({ type: 'string' }),
        match_mode: { type: 'object' },
        path: { type: 'string' },
        matches: listOf(
          schema({
            path: { type: 'string' },
            match_line_number: { type: 'integer' },
            content_start_line_number: { type: 'integer' },
            content: { type: 'string' },
            matched_queries: listOf({ type: 'string' }),
          }),
        ),
        next_cursor: textOrNull,
        truncated: { type: 'boolean' },
        left_out: { type: 'integer' },
      },
      ['queries', 'match_mode', 'path', 'matches', 'next_cursor', 'truncated', 'left_out'],
    ),
    readOnly: true,
  },
  {
    name: 'add_ad_hoc_note',
    description:
      'Keeps one small note for the memory. Only when the person asks for it in so many words. It is reviewed before it counts.',
    inputSchema: schema(
      {
        filename: text('YYYY-MM-DDTHH-MM-SS-<slug>.md: the time now, a slug of a-z, 0-9 and -'),
        note: text('what is to be remembered, in the person’s words'),
      },
      ['filename', 'note'],
    ),
    outputSchema: schema({}, []),
    readOnly: false,
  },
];

function schema(properties: Readonly<Record<string, object>>, required = Object.keys(properties)): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}
