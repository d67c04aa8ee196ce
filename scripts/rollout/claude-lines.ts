import { mayInject } from './claude-context.ts';
import { headOf, mayHoldMore } from './head.ts';

/** Line types that hold nothing that anybody said. */
const skippedTypes = new Set([
  'api-request',
  'api-request-shape',
  'api-request-blob',
  'api-request-resumed',
  'progress',
  'file-history-snapshot',
  'file-history-delta',
  'queue-operation',
  'last-prompt',
  'atis-latch',
  'tools-used',
  'cost-state',
  'mode',
  'permission-mode',
  'summary',
  'custom-title',
  'ai-title',
  'tag',
  'agent-name',
  'agent-color',
  'agent-setting',
  'frame-link',
  'observer-ref',
  'continued-in',
  'resume-head-vouch',
  'attribution-snapshot',
  'relocated',
  'session-owner',
  'isolation-latch',
  'dev-mods',
  'worktree-state',
  'bridge-session',
  'data-flow-records',
  'data-flow-incomplete',
  'derived-from',
  'pr-link',
  'history-suppression',
  'ended-by-model',
  'content-replacement',
  'memory-mode',
  'artifact-comment-monitor',
  'artifact-autoreact-ledger',
  'fork-context-ref',
  'repl-mode',
  'hybrid-organization',
]);

const skippedAttachments = new Set([
  'prompt_snapshot',
  'skill_listing',
  'instructions',
  'agent_listing_delta',
  'environment',
  'deferred_tools_delta',
  'session_context',
  'remote_session_change',
  'model',
  'auto_mode',
  'date',
  'command_permissions',
  'hook_success',
  'hook_additional_context',
  'nested_memory',
  'relevant_memories',
  'file',
  'edited_text_file',
  'todo',
  'todo_reminder',
  'diagnostics',
  'plan_mode',
  'output_style',
  'mcp_instructions_delta',
  'opened_file_in_ide',
  'selected_lines_in_ide',
]);

const attachmentMark = Buffer.from('"type":"attachment"');
const recordStart = Buffer.from('{"parentUuid":');

/**
 * The label of a line that can be dropped unparsed, `progress` or `attachment:skill_listing`, or null: then parse it.
 * An attachment's own `type` may stand after its content, so the mark is looked for too: inside a text its quotes would
 * be escaped.
 */
export function skippableLabel(line: Buffer): string | null {
  const { type, inner } = headOf(line, 'attachment');
  const isType = type !== null && skippedTypes.has(type);
  const isAttachment =
    !isType &&
    inner !== null &&
    skippedAttachments.has(inner) &&
    !mayInject(inner, line) &&
    (type === 'attachment' || (type === null && line.includes(attachmentMark)));
  if ((!isType && !isAttachment) || mayHoldMore(line, recordStart)) return null;
  return isType ? type : `attachment:${inner}`;
}

export function isSkippedType(type: string): boolean {
  return skippedTypes.has(type);
}

export function isSkippedAttachment(type: string): boolean {
  return skippedAttachments.has(type);
}
