import { answered, callWith, typedCommand } from './calls.ts';
import { type Fields, fieldsOf, integerOf, jsonOf, listOf, textOf } from './fields.ts';
import { splitWords } from './harness.ts';
import { interrupted, type Part } from './items.ts';
import type { Who } from './types.ts';

/**
 * What a message in the user's place says. `content` is what was typed; `transformedContent`, with what the program wraps
 * around it, is not read.
 */
export function userWords(data: Fields): Part[] {
  const text = textOf(data.content) ?? '';
  const source = textOf(data.source) ?? 'user';
  if (source.startsWith('agent-')) return [{ who: 'other_agent', kind: 'text', text }];
  if (source !== 'user' || data.isAutopilotContinuation === true) return [{ who: 'harness', kind: 'text', text }];
  return splitWords(text).map((words) => ({ ...words, kind: 'text' }));
}

/** The model's words, which keep the first place, then the calls that it asks for. */
export function assistantParts(data: Fields, who: Who): Part[] {
  return [
    { who, kind: 'text', text: textOf(data.content) ?? '' },
    ...listOf(data.toolRequests).map((request) => callIn(fieldsOf(request))),
  ];
}

/** A call as a request, an execution's start or a person's own command records it. */
export function callIn(data: Fields): Part {
  const tool = textOf(data.name) ?? textOf(data.toolName) ?? 'unknown';
  const call = textOf(data.toolCallId);
  return {
    ...callWith(tool, data.arguments),
    ...(textOf(data.mcpServerName) === null ? {} : { does: 'mcp' }),
    ...(call === null ? {} : { call }),
  };
}

/** A command that the person had run with `!`. */
export function requestedCall(data: Fields): Part {
  const { text, call } = callIn(data);
  return typedCommand(text, call ?? '');
}

/** An output; the line with which a shell's ends becomes its exit status. */
export function outputIn(data: Fields): Part {
  const call = textOf(data.toolCallId);
  const result = fieldsOf(data.result);
  const error = fieldsOf(data.error);
  const said = textOf(result.content) ?? textOf(error.message) ?? contentsText(result.contents);
  const ending = shellEnding.exec(said.slice(-200));
  const exit = integerOf(fieldsOf(data.shellExecution).exitCode) ?? (ending === null ? null : Number(ending[1]));
  const succeeded = data.success === true ? 0 : data.success === false ? 1 : undefined;
  const code = exit ?? succeeded;
  return {
    who: 'tool',
    kind: 'output',
    text: ending === null ? said : said.slice(0, said.length - ending[0].length),
    ...(call === null ? {} : { call }),
    ...(code === undefined ? {} : { exit: code }),
  };
}

/** Files that an execution says it changed. */
export function filesEdited(data: Fields): string[] {
  return listOf(data.fileEdits).flatMap((edit) => textOf(fieldsOf(edit).path) ?? []);
}

/** The person's answer to the model's question, with it; null where the output says that there was none. */
export function answerIn(output: string, question: string): string | null {
  const answer = /^User (?:selected|responded|answered|provided)(?: with)?:[ \t]*([\s\S]+)$/.exec(output)?.[1];
  return answer === undefined ? null : answered([[question, answer.trim()]]);
}

/** What the person wrote when they refused a call. */
export function refusalIn(data: Fields): Part[] {
  const text = textOf(fieldsOf(data.result).feedback);
  return text === null ? [] : [{ who: 'human', kind: 'text', text }];
}

/** The person stopped the turn; a limit that was reached is no person. */
export function abortIn(data: Fields): Part[] {
  return data.reason === 'autopilot_credit_limit' ? [] : [interrupted];
}

/** A compaction's summary is nobody's words. */
export function summaryIn(data: Fields): Part[] {
  return [{ who: 'harness', kind: 'text', text: textOf(data.summaryContent) ?? '' }];
}

const shellEnding = /\n?<(?:shellId: [^\n<>]{1,80} )?(?:completed|exited) with exit code (-?\d{1,10})>\s{0,8}$/;

function contentsText(contents: unknown): string {
  const blocks = listOf(contents).map((block) => {
    const { type, text } = fieldsOf(block);
    return type === 'image' ? '[image omitted]' : (textOf(text) ?? '');
  });
  return blocks.some((text) => text !== '') ? blocks.join('\n') : contents === undefined ? '' : jsonOf(contents);
}
