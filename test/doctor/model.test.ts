import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookAtModels, modelFindings } from '../../scripts/doctor/model.ts';
import { doctorText } from '../../scripts/doctor/report.ts';
import { apiKeyOf } from '../../scripts/nightly/compose.ts';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import { type ApiServerOptions, startApiServer } from '../support/api-server.ts';

const key = ['sk', 'proj', 'd0c70r'.repeat(4)].join('-');
const now = parseIsoTime('2026-12-01T03:17:00Z') ?? 0;

/** What the doctor says of a server and the key in the environment. */
async function said(options: ApiServerOptions, env: Readonly<Record<string, string>> = { MODEL_KEY: key }) {
  const server = await startApiServer({ apiKey: key, models: ['small', 'large'], ...options });
  try {
    return await saidOf(server.baseUrl, env);
  } finally {
    await server.close();
  }
}

async function saidOf(address: string, env: Readonly<Record<string, string>>): Promise<string> {
  const config = parseConfig(
    `model: { provider: openai, base_url: "${address}", key_env: MODEL_KEY, extract_model: small, consolidation_model: large }`,
  );
  const models = await lookAtModels(config, () => apiKeyOf(config, env), new AbortController().signal);
  const text = doctorText(modelFindings(models, config, now), false);
  assert.ok(!text.includes(key), 'the key is not shown');
  return text;
}

test('a key that works and models that are listed are no finding; a server without a list is none either', async () => {
  assert.equal(await said({}), 'Nothing is wrong.');
  assert.equal(await said({ models: null }), 'Nothing is wrong.');
  assert.equal(await said({ models: ['small:latest', 'models/large'] }), 'Nothing is wrong.');
});

test('a key that is missing is named by its variable, and one that is refused by the server’s words', async () => {
  assert.match(
    await saidOf('https://models.example.test/v1', {}),
    /^error +model\.key +The environment variable MODEL_KEY holds no API key\. .* → Set it, /,
  );
  assert.match(await said({}, { MODEL_KEY: 'another' }), /^error .* refuses the key \(401\): Incorrect API key/);
});

test('a key that has expired, has no rights or has nothing left is shown as itself', async () => {
  const refusal = (status: number, message: string, code: string) =>
    said({ modelsRefusal: { status, error: { message, type: 'invalid_request_error', code } } });
  assert.match(
    await refusal(401, 'This API key has expired.', 'expired_api_key'),
    /refuses the key \(401\): This API key has expired\..* → Check the variable that model\.key_env names/,
  );
  assert.match(
    await refusal(403, 'You have insufficient permissions for this operation.', 'insufficient_permissions'),
    /refuses the key \(403\): You have insufficient permissions/,
  );
  assert.match(await refusal(429, 'You exceeded your quota.', 'insufficient_quota'), /nothing left to spend/);
});

test('a model that is gone is an error, one that is about to be is told 60 days before', async () => {
  assert.match(
    await said({ models: ['small', 'larger'] }),
    /^error +model\.gone +The server has no model large for this key\. .* → Set model\.consolidation_model to .* small, larger\.$/,
  );
  const ending = (shutdown: number | string) => said({ models: ['large', { id: 'small', shutdown_date: shutdown }] });
  assert.match(
    await ending('2027-01-14'),
    /^warning +model\.ending +small is switched off on 2027-01-14, in 43 days\. .* → Set model\.extract_model/,
  );
  assert.match(await ending(now - 1), /^error +model\.ending +small was switched off on 2026-12-01\./);
  assert.equal(await ending(now + 61 * 86_400), 'Nothing is wrong.');
});

test('a server that cannot be reached, or is none, is named with what to check', async () => {
  const server = await startApiServer();
  await server.close();
  assert.match(
    await saidOf(server.baseUrl, { MODEL_KEY: key }),
    /^error .* cannot be reached: .* → Check model\.base_url/,
  );
});
