import { type Fields, fieldsOf, isFields } from './fields.ts';
import { headOf, mayHoldMore } from './head.ts';

/** A record as today's versions write it, whatever version wrote it. */
export interface Envelope {
  readonly type: string;
  readonly payload: Fields;
  /** `type`, or `type:payload type` for response items and events. */
  readonly label: string;
}

/** Lines dropped for their head alone, before they are parsed. */
const skippedByHead = new Set([
  'token_usage_record',
  'world_state',
  'event_msg:token_count',
  'event_msg:thread_settings_applied',
  'event_msg:task_started',
  'event_msg:task_complete',
  'event_msg:agent_reasoning',
  'event_msg:agent_reasoning_delta',
  'event_msg:agent_reasoning_raw_content',
  'event_msg:agent_reasoning_section_break',
  'event_msg:exec_command_begin',
  'event_msg:exec_command_output_delta',
  'event_msg:patch_apply_begin',
  'event_msg:mcp_tool_call_begin',
  'event_msg:mcp_tool_call_end',
  'event_msg:turn_diff',
  'response_item:reasoning',
]);

const known = new Set([
  ...skippedByHead,
  'session_meta',
  'turn_context',
  'compacted',
  'state',
  'inter_agent_communication',
  'inter_agent_metadata',
  'realtime_item',
  'retained_context',
  'security_risk_score',
  'event_msg:item_started',
  'event_msg:item_completed',
  'event_msg:user_message',
  'event_msg:agent_message',
  'event_msg:context_compacted',
  'event_msg:turn_aborted',
  'event_msg:patch_apply_end',
  'event_msg:exec_command_end',
  'event_msg:web_search_begin',
  'event_msg:web_search_end',
  'event_msg:view_image_tool_call',
  'event_msg:plan_update',
  'event_msg:entered_review_mode',
  'event_msg:exited_review_mode',
  'event_msg:undo_started',
  'event_msg:undo_completed',
  'event_msg:thread_rolled_back',
  'event_msg:error',
  'event_msg:warning',
  'event_msg:stream_error',
  'event_msg:background_event',
  'response_item:message',
  'response_item:agent_message',
  'response_item:function_call',
  'response_item:function_call_output',
  'response_item:custom_tool_call',
  'response_item:custom_tool_call_output',
  'response_item:local_shell_call',
  'response_item:tool_search_call',
  'response_item:tool_search_output',
  'response_item:web_search_call',
  'response_item:compaction',
  'response_item:context_compaction',
  'response_item:compaction_trigger',
  'response_item:image_generation_call',
  'response_item:additional_tools',
  'response_item:ghost_snapshot',
]);

const completed = 'event_msg:item_completed';
const repeatedByItems = ['CommandExecution', 'FileChange', 'Reasoning'].map((type) => `"item":{"type":"${type}"`);
const recordStart = Buffer.from('{"timestamp":');

/** The label of a line that can be dropped unparsed, or null: then parse it. */
export function skippableLabel(line: Buffer): string | null {
  const { type, inner } = headOf(line, 'payload');
  if (type === null) return null;
  const label = inner === null ? type : `${type}:${inner}`;
  const skip = skippedByHead.has(label) || (label === completed && repeatedByItems.some((item) => line.includes(item)));
  return skip && !mayHoldMore(line, recordStart) ? label : null;
}

export function isKnown(label: string): boolean {
  return known.has(label);
}

/** The record in today's envelope: older versions wrote the response item, and the session's header, as they are. */
export function envelopeOf(record: Fields): Envelope {
  const type = typeof record.type === 'string' ? record.type : '';
  if (isFields(record.payload)) return enveloped(type, record.payload);
  if (record.record_type === 'state') return enveloped('state', record);
  if (type !== '' && known.has(`response_item:${type}`)) return enveloped('response_item', record);
  if (
    type === '' &&
    typeof record.id === 'string' &&
    ('instructions' in record || 'git' in record || 'timestamp' in record)
  )
    return enveloped('session_meta', record);
  return enveloped(type, fieldsOf(record.payload));
}

function enveloped(type: string, payload: Fields): Envelope {
  const hasKinds = type === 'response_item' || type === 'event_msg';
  return { type, payload, label: hasKinds ? `${type}:${String(payload.type)}` : type };
}
