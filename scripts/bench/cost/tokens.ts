import { firstDialect } from '../../model/dialect.ts';
import type { ModelRequest } from '../../model/types.ts';
import { readResponses, responsesBody } from '../../model/wire-responses.ts';
import { extractionRequest } from '../../phase1/request.ts';
import { prepareScope } from '../../phase2/prepare.ts';
import { diffBytesFor, opening } from '../../phase2/request.ts';
import { toolSpecs } from '../../phase2/tools.ts';
import { inputLimits } from '../../rollout/budget.ts';
import { filterRollout } from '../../rollout/filter.ts';
import type { Rollouts } from '../../rollout/source.ts';
import { renderItems } from '../../rollout/tiers.ts';
import type { Rollout } from '../../rollout/types.ts';
import { day } from '../../shared/clock.ts';
import { MemoryError } from '../../shared/errors.ts';
import { countTokens } from '../../shared/tokens.ts';
import { emptyState } from '../../state/snapshot.ts';
import { renderChanges } from '../../workspace/changes.ts';
import { rolloutPath } from '../../workspace/layout.ts';
import { answerTo } from '../answer.ts';
import { lastNight, policyFor } from '../phase2.ts';
import { changeOutputs, fillState, rowScope, rowTime } from '../rows.ts';
import type { ConversationTokens, Load, SessionTokens } from './reckon.ts';

const settings = { model: 'bench', promptHash: 'bench', language: 'source', maxOutputTokens: 8_000 } as const;

/** The mean of all sessions that a night would read, counted in the requests that it would send. */
export async function sessionTokens(
  rollouts: Rollouts,
  signal?: AbortSignal,
): Promise<{ readonly sessions: number; readonly tokens: SessionTokens }> {
  const { found } = await rollouts.list(signal);
  const meant = found.filter(({ thread, humanItems }) => thread.kind === 'root' && humanItems > 0);
  if (meant.length === 0)
    throw new MemoryError('There is no session that a night would read.', 'Name a folder with some: --corpus <dir>.');
  const sums = { constant: 0, own: 0, output: 0 };
  for (const { thread } of meant) {
    const request = requestFor(await rollouts.read(thread.id, signal));
    const [system = '', user = ''] = request.messages.map(({ text }) => text);
    sums.constant += countTokens(system) + countTokens(JSON.stringify(request.schema));
    sums.own += countTokens(user);
    sums.output += countTokens(answerFor(request));
  }
  const mean = (sum: number) => Math.round(sum / meant.length);
  const tokens = { constant: mean(sums.constant), own: mean(sums.own), output: mean(sums.output) };
  return { sessions: meant.length, tokens };
}

function requestFor(rollout: Rollout): ModelRequest {
  const { thread } = rollout;
  const { items } = filterRollout(rollout);
  const { text } = renderItems(items, inputLimits.unknownWindowTokens);
  return extractionRequest({ thread, rolloutPath: rolloutPath(thread.id, thread.startedAt), items }, text, settings);
}

/** No model is asked: as long as what the bench's own server says. */
function answerFor(request: ModelRequest): string {
  const reading = readResponses(answerTo(JSON.stringify(responsesBody(request, firstDialect('auto', true)))), true);
  if (reading.outcome !== 'reply') throw new RangeError("The bench's own answer cannot be read.");
  return reading.text;
}

/** What a handbook holds that is read once a conversation. */
const handbookTokens = 10_000;
/** What a turn's call says beside the text that it writes. */
const callTokens = 60;
const memoryDays = 30;

/**
 * The conversation about a repository that remembers a month of its sessions and takes in a day's: its opening counted
 * in the messages that a night would send. It reads what is new and the handbook once, and writes as much as is new.
 * @param each tokens of one session's output
 */
export async function conversationTokens(
  each: number,
  { repositories, sessions, turns }: Load,
): Promise<ConversationTokens> {
  const fresh = Math.max(1, Math.round(sessions / repositories));
  const selected = Math.min(256, fresh * memoryDays);
  const state = await emptyState();
  await fillState(state, selected);
  const start = lastNight(state, selected);
  await changeOutputs(state, fresh);
  const scope = prepareScope(state, rowScope, start, policyFor(selected), rowTime + day);
  state.close();
  const task = {
    scope: scope.scope,
    mode: 'incremental',
    files: scope.ready,
    changes: (maxBytes: number) => renderChanges(scope.changes, maxBytes),
    repositories: [],
    appendOnly: false,
    isNote: () => false,
    isPersons: () => false,
    review: () => [],
  } as const;
  const redact = (text: string) => text;
  const messages = opening(task, { audience: 'team', language: 'source', redact }, diffBytesFor(null));
  const [system = '', user = ''] = messages.map(({ text }) => text);
  return {
    constant: countTokens(system) + countTokens(JSON.stringify(toolSpecs)),
    opening: countTokens(user),
    read: fresh * each + handbookTokens,
    written: fresh * each + turns * callTokens,
  };
}
