/**
 * What the bench's server answers: an event stream of `/v1/responses` whose text is a stage-1 output that names items
 * of the rollout in the request and quotes its human, so that all of it can be verified. Where the request holds no
 * rollout in our form it is as long, with items of no rollout.
 * @param request the body as it came
 */
export function answerTo(request: string): string {
  const text = outputFor(request);
  const [input, output] = [Math.ceil(request.length / 4), Math.ceil(text.length / 4)];
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  };
  const whole = { id: 'resp_1', object: 'response', model: 'bench', status: 'completed', output: [message], usage };
  const begun = { ...message, status: 'in_progress', content: [] };
  const part = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const events: Record<string, unknown>[] = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: begun },
    { type: 'response.content_part.added', ...part, part: { type: 'output_text', text: '' } },
    ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', ...part, delta })),
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response: whole },
  ];
  return events
    .map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`)
    .join('');
}

function outputFor(request: string): string {
  const found = rowsIn(request);
  const rows = found.length > 0 ? found : noRollout;
  const human = rows.filter(({ who }) => who === 'human');
  const others = rows.filter(({ who }) => who !== 'human');
  const bullets = [
    'Preference signals (project):',
    ...human
      .slice(0, 4)
      .map(({ n, words }) => `- when such work comes up, the user said "${words}" -> do that first (@${n})`),
    '',
    'Reusable knowledge:',
    ...others.slice(0, 10).map(({ n, who }) => `- what the ${who} showed here answers the same question again (@${n})`),
  ];
  const head = ['description: what one session taught', 'task: answer the question', 'task_group: bench'];
  const raw = ['---', ...head, 'task_outcome: success', 'cwd: .', 'keywords: bench, sample, session', '---', ''];
  const task = ['### Task 1: answer the question', '', 'task_outcome: success', ''];
  const summary = [
    '# One session',
    '',
    'Rollout context: a sample under a new id',
    '',
    '## Task 1: answer the question',
    '',
  ];
  return JSON.stringify({
    rollout_summary: [...summary, 'Outcome: success', '', ...bullets].join('\n'),
    rollout_slug: 'one-session',
    raw_memory: [...raw, ...task, ...bullets].join('\n'),
  });
}

interface Row {
  readonly n: string;
  readonly who: string;
  readonly words: string;
}

const noRollout: readonly Row[] = Array.from({ length: 14 }, (_, index) => ({
  n: String(index + 12),
  who: index < 4 ? 'human' : 'tool',
  words: 'run the tests of the part that changed before the whole',
}));

/** The rollout's rows: `[human @12] words`. */
function rowsIn(request: string): Row[] {
  const body: { input?: { role?: string; content?: unknown }[] } = JSON.parse(request);
  const rollout = body.input?.findLast(({ role }) => role === 'user')?.content;
  if (typeof rollout !== 'string') return [];
  return [...rollout.matchAll(/^\[(\w{4,12}) @([\d:.]{1,20})[^\]\n]{0,60}\] (.{0,60})/gm)].map(
    ([, who = '', n = '', words = '']) => ({ n, who, words: wholeWords(words.replace(/["'`\\[\]()]/g, '…')) }),
  );
}

/** A quotation does not end within a word. */
function wholeWords(text: string): string {
  return (text.length < 60 ? text : text.replace(/ \S{0,59}$/, '')).trim();
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,20}/gu) ?? [];
}
