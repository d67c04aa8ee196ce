import type { TestContext } from 'node:test';
import { createOpenAiModel, type OpenAiOptions } from '../../scripts/model/openai.ts';
import type { Model } from '../../scripts/model/types.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './api-server.ts';

export interface ServedModel {
  readonly model: Model;
  readonly server: ApiServer;
  /** Seconds that the model wanted to wait between tries; nobody waits. */
  readonly waits: readonly number[];
}

/** A model over a real local server, both gone when the test ends. */
export async function serveModel(
  t: TestContext,
  server: ApiServerOptions,
  options: Partial<OpenAiOptions> = {},
): Promise<ServedModel> {
  const api = await startApiServer(server);
  t.after(() => api.close());
  const waits: number[] = [];
  const wait = async (seconds: number) => {
    waits.push(seconds);
  };
  const model = createOpenAiModel({ baseUrl: api.baseUrl, apiKey: 'test-key-123', wire: 'chat', wait, ...options });
  return { model, server: api, waits };
}
