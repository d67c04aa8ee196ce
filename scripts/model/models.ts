import { type EpochSeconds, parseIsoTime } from '../shared/clock.ts';
import { parsedJson } from '../shared/json.ts';
import { at, countAt, listAt, textAt } from './at.ts';
import { type ClientOptions, createClient } from './client.ts';
import { errorOf, refusalOf } from './refusals.ts';

/** A model as its server lists it. */
export interface ListedModel {
  readonly id: string;
  /** When it is switched off, where the server says so. */
  readonly shutdownAt: EpochSeconds | null;
}

/**
 * Asks a server which models this key may use: one request that costs nothing.
 * @returns null where the server has no such list.
 * @throws ModelError; UsageError for an address or a key that no request can be made with.
 */
export async function listModels(
  options: Pick<ClientOptions, 'apiKey'> & { readonly baseUrl?: string | undefined; readonly timeoutSeconds?: number },
  signal?: AbortSignal,
): Promise<readonly ListedModel[] | null> {
  const { apiKey, baseUrl = 'https://api.openai.com/v1', timeoutSeconds = 30 } = options;
  const client = createClient({ apiKey, baseUrl, timeoutSeconds, idleSeconds: timeoutSeconds });
  const { status, headers, body } = await client.get('/models', signal);
  if (noList.has(status)) return null;
  if (status >= 300) throw errorOf(refusalOf(status, body), headers, apiKey.trim());
  const entries = listAt(parsedJson(body), 'data');
  return entries.length === 0 ? null : entries.flatMap(modelFrom);
}

const noList: ReadonlySet<number> = new Set([404, 405, 501]);

function modelFrom(value: unknown): ListedModel[] {
  const id = textAt(value, 'id');
  return id === null ? [] : [{ id, shutdownAt: timeFrom(value) }];
}

/** Servers give epoch seconds or an ISO date. */
function timeFrom(value: unknown): EpochSeconds | null {
  const date = at(value, 'shutdown_date');
  return typeof date === 'string' ? parseIsoTime(date) : countAt(value, 'shutdown_date');
}
