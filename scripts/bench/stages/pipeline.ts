import { firstDialect } from '../../model/dialect.ts';
import type { ModelReply } from '../../model/types.ts';
import { noUsage } from '../../model/usage.ts';
import { readResponses, responsesBody } from '../../model/wire-responses.ts';
import { evidenceRows } from '../../phase1/evidence.ts';
import { parseReply } from '../../phase1/parse.ts';
import type { Learned } from '../../phase1/record.ts';
import { extractionRequest } from '../../phase1/request.ts';
import { verifyText } from '../../phase1/verify.ts';
import { inputLimits } from '../../rollout/budget.ts';
import { filterRollout } from '../../rollout/filter.ts';
import { redactRollout } from '../../rollout/redacted.ts';
import { type Rendering, renderItems } from '../../rollout/tiers.ts';
import type { Item, Rollout } from '../../rollout/types.ts';
import type { Redactor } from '../../shared/redact.ts';
import { rolloutPath } from '../../workspace/layout.ts';

/** What phase 1 does with a rollout once it is read, a step at a time, by the functions that a night calls. */
export interface Pipeline {
  redact(rollout: Rollout): Rollout;
  filter(rollout: Rollout): readonly Item[];
  tier(items: readonly Item[]): Rendering;
  /** The body of the request, redacted once more as a night does. */
  request(rollout: Rollout, items: readonly Item[], rendering: Rendering): string;
  /** Reads, redacts and verifies an answer, and looks up its evidence; null for one that taught nothing. */
  parse(rollout: Rollout, rendering: Rendering, answer: string): Learned | null;
}

const dialect = firstDialect('auto', true);
const settings = { model: 'bench', promptHash: 'bench', language: 'source', maxOutputTokens: 8_000 } as const;

export function pipelineWith({ redact, ...redactor }: Redactor): Pipeline {
  return {
    redact: (rollout) => redactRollout(rollout, { redact, ...redactor }),
    filter: (rollout) => filterRollout(rollout).items,
    tier: (items) => renderItems(items, inputLimits.unknownWindowTokens),
    request({ thread }, items, rendering) {
      const input = { thread, rolloutPath: rolloutPath(thread.id, thread.startedAt), items };
      return JSON.stringify(responsesBody(extractionRequest(input, redact(rendering.text), settings), dialect));
    },
    parse({ thread, items }, { shown }, answer) {
      const parsed = parseReply(replyOf(answer));
      if (parsed.outcome !== 'text') return null;
      const { rolloutSummary, rolloutSlug, rawMemory } = parsed.text;
      const clean = {
        rolloutSummary: redact(rolloutSummary),
        rolloutSlug: redact(rolloutSlug),
        rawMemory: redact(rawMemory),
      };
      const { text, unverified } = verifyText(clean, shown, { thread, audience: 'team' });
      const evidence = evidenceRows(thread, items, text);
      return { thread, extraction: { outcome: 'extracted', text, unverified, usage: noUsage }, evidence };
    },
  };
}

function replyOf(answer: string): ModelReply {
  const reading = readResponses(answer, true);
  if (reading.outcome !== 'reply') throw new RangeError("The bench's own answer cannot be read.");
  return { text: reading.text, toolCalls: [], finish: reading.finish, model: 'bench', usage: noUsage };
}
