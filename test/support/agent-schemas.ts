import { z } from 'zod';

/**
 * What each agent takes at the places that `connect` writes, strictly: a key that it does not know, a wrong type or a
 * missing one fails. Other keys of a settings file are its person's, so only `hooks` is judged there.
 */
const seconds = z.number().int().min(1).max(600);

const claudeEvents = ['SessionStart', 'SessionEnd', 'Stop', 'PreToolUse', 'PostToolUse', 'UserPromptSubmit'] as const;
const codexEvents = ['SessionStart', 'Stop', 'PreToolUse', 'PostToolUse', 'UserPromptSubmit'] as const;
const geminiEvents = ['SessionStart', 'SessionEnd', 'AfterAgent', 'BeforeAgent', 'BeforeTool', 'AfterTool'] as const;
const copilotEvents = ['sessionStart', 'sessionEnd', 'agentStop', 'userPromptSubmitted', 'preToolUse'] as const;

const command = z.string().min(1);
const grouped = <E extends string>(events: readonly E[], handler: z.ZodType) =>
  z.partialRecord(
    z.enum(events as unknown as [E, ...E[]]),
    z.array(z.strictObject({ matcher: z.string().optional(), hooks: z.array(handler).min(1) })),
  );

export const schemas = {
  'claude-code': z.looseObject({
    hooks: grouped(claudeEvents, z.strictObject({ type: z.literal('command'), command, timeout: seconds.optional() })),
  }),
  codex: z.strictObject({
    hooks: grouped(
      codexEvents,
      z.strictObject({
        type: z.literal('command'),
        command,
        timeout: seconds.optional(),
        statusMessage: z.string().optional(),
      }),
    ),
  }),
  copilot: z.strictObject({
    version: z.literal(1),
    hooks: z.partialRecord(
      z.enum(copilotEvents),
      z.array(
        z.strictObject({
          type: z.literal('command'),
          bash: command,
          powershell: command.optional(),
          cwd: z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
          timeoutSec: seconds.optional(),
        }),
      ),
    ),
  }),
  /** Gemini counts milliseconds. */
  gemini: z.looseObject({
    hooks: grouped(
      geminiEvents,
      z.strictObject({
        type: z.literal('command'),
        command,
        name: z.string().optional(),
        description: z.string().optional(),
        timeout: z.number().int().min(1_000).max(600_000).optional(),
      }),
    ),
  }),
} as const;
