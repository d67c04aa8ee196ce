import { abortedError, type ModelError } from './errors.ts';
import type { Model, ModelReply, ModelRequest } from './types.ts';

/** What is said: a text, parts of a reply, or an error that is thrown. */
export type ScriptedAnswer = string | Partial<ModelReply> | ModelError;

/** One entry of a list: answers a request that `when` accepts (any, when absent), `times` times (1). */
export interface ScriptedEntry {
  readonly when?: (request: ModelRequest) => boolean;
  readonly reply: ScriptedAnswer;
  readonly times?: number;
}

/** A function of the request and its number (from 0), or entries of which the first fitting one answers. */
export type Script = ((request: ModelRequest, index: number) => ScriptedAnswer) | readonly ScriptedEntry[];

export interface ScriptedModel extends Model {
  /** Every request in the order of arrival. */
  readonly requests: readonly ModelRequest[];
}

/** A model whose answers are written down: no network, no chance. A request without an answer is an error of the script. */
export function createScriptedModel(script: Script): ScriptedModel {
  const requests: ModelRequest[] = [];
  const answer = typeof script === 'function' ? script : fromEntries(script);
  return {
    requests,
    async ask(request, signal) {
      if (signal?.aborted) throw abortedError();
      const said = answer(request, requests.push(request) - 1);
      if (said instanceof Error) throw said;
      return replyOf(request, typeof said === 'string' ? { text: said } : said);
    },
  };
}

function fromEntries(entries: readonly ScriptedEntry[]): (request: ModelRequest) => ScriptedAnswer {
  const left = entries.map((entry) => entry.times ?? 1);
  return (request) => {
    const index = entries.findIndex((entry, at) => (left[at] ?? 0) > 0 && (entry.when?.(request) ?? true));
    const entry = entries[index];
    if (entry === undefined) throw new Error(`The script has no answer for ${request.purpose} ${request.subject}.`);
    left[index] = (left[index] ?? 0) - 1;
    return entry.reply;
  };
}

/** Four characters a token. */
function replyOf(request: ModelRequest, said: Partial<ModelReply>): ModelReply {
  const toolCalls = said.toolCalls ?? [];
  const text = said.text ?? '';
  const asked = request.messages.reduce((sum, message) => sum + message.text.length, 0);
  return {
    text,
    toolCalls,
    finish: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    usage: { requests: 1, input: Math.ceil(asked / 4), cached: 0, output: Math.ceil(text.length / 4) },
    model: request.model,
    ...said,
  };
}
