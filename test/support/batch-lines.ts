import { rendered } from './api-answers.ts';
import { refuse } from './api-refusals.ts';
import type { RecordedRequest, Wire } from './api-types.ts';
import type { Behave } from './model-nights.ts';
import { recordedFrom } from './recorded-request.ts';

/** One line of a batch's input. */
export interface InputLine {
  readonly custom_id: string;
  readonly method: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The lines of an input file, and what OpenAI says when it validates them; null when nothing is wrong. */
export function readInput(text: string, endpoint: string): { lines: InputLine[]; problem: string | null } {
  const lines: InputLine[] = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]));
  const ids = new Set(lines.map((line) => line.custom_id));
  const models = new Set(lines.map((line) => line.body.model));
  const wrong = lines.find((line) => line.method !== 'POST' || line.url !== endpoint || line.body.stream === true);
  if (lines.length === 0) return { lines, problem: 'The input file is empty.' };
  if (ids.size < lines.length) return { lines, problem: 'The custom_id is not unique.' };
  if (models.size > 1) return { lines, problem: 'The requests name different models.' };
  return { lines, problem: wrong === undefined ? null : `The request ${wrong.custom_id} does not match the batch.` };
}

/** A result line, of the output file or of the error file. */
export async function answerLine(
  line: InputLine,
  index: number,
  endpoint: string,
  behave: (...args: Parameters<Behave>) => ReturnType<Behave> | null,
  end: 'completed' | 'expired' | 'cancelled',
): Promise<{ isGood: boolean; text: string }> {
  const wire: Wire = endpoint === '/v1/chat/completions' ? 'chat' : 'responses';
  const request = recordedFrom('POST', endpoint, {}, line.body);
  const head = { id: `batch_req_${index + 1}`, custom_id: line.custom_id };
  const behaviour = await behave(request, index);
  if (behaviour === null) {
    const code = end === 'cancelled' ? 'batch_cancelled' : 'batch_expired';
    const message = 'This request could not be executed before the completion window expired.';
    return { isGood: false, text: JSON.stringify({ ...head, response: null, error: { code, message } }) };
  }
  const { status, body } = bodyOf(request, wire, behaviour);
  const response = { status_code: status, request_id: `req_${index + 1}`, body };
  return { isGood: status === 200, text: JSON.stringify({ ...head, response, error: null }) };
}

function bodyOf(request: RecordedRequest, wire: Wire, behaviour: Awaited<ReturnType<Behave>>) {
  const refusal = refuse(request, wire, {});
  if (refusal !== null) return { status: refusal.status, body: { error: refusal.error } };
  if ('status' in behaviour) return { status: behaviour.status, body: { error: behaviour.error ?? {} } };
  if ('raw' in behaviour || 'drop' in behaviour || 'stall' in behaviour || 'cut' in behaviour)
    throw new Error('A line of a batch is whole.');
  return { status: 200, body: JSON.parse(rendered(request, wire, behaviour).body) as unknown };
}
