import { headOf, mayHoldMore } from './head.ts';

/** Events dropped for their head alone, before they are parsed: they say nothing that anybody said or did. */
const skippedByHead = new Set([
  'system.message',
  'session.usage_record',
  'session.usage_info',
  'session.usage_checkpoint',
  'session.shutdown',
  'session.binary_asset',
  'session.skills_loaded',
  'session.tools_updated',
  'hook.start',
  'hook.end',
  'hook.progress',
  'skill.invoked',
  'assistant.turn_start',
  'assistant.turn_end',
  'assistant.intent',
  'assistant.usage',
  'assistant.reasoning',
  'assistant.reasoning_delta',
  'assistant.streaming_delta',
  'assistant.message_start',
  'assistant.message_delta',
  'assistant.tool_call_delta',
  'model.call_failure',
  'model.call_finished',
  'tool.execution_partial_result',
  'tool.execution_progress',
]);

/** Families of events that are nobody's words, whatever their members are called in the next version. */
const skippedFamilies =
  /^(?:session|assistant|model|hook|skill|subagent|system|permission|user_input|elicitation|sampling|mcp|mcp_app|external_tool|command|commands|capabilities|exit_plan_mode|auto_mode_switch|session_limits_exhausted|pending_messages|tool_search|factory|ui)\.[\w.]{1,60}$/;

const recordStart = Buffer.from('{"type":"');
/** A hook that gave the session memory: the line is parsed for the ids in it. */
const injectedMark = Buffer.from('<commit-to-memory v=');

/** The label of a line that can be dropped unparsed, or null: then parse it. */
export function skippableLabel(line: Buffer): string | null {
  const { type } = headOf(line, 'data');
  if (type === 'hook.end' && line.includes(injectedMark)) return null;
  return type !== null && skippedByHead.has(type) && !mayHoldMore(line, recordStart) ? type : null;
}

/** Whether an event of this type is known to give no item. */
export function isSkippedType(type: string): boolean {
  return skippedByHead.has(type) || skippedFamilies.test(type);
}
