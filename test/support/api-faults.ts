import type { Answer, Behaviour } from './api-types.ts';

/**
 * Everything that a model's server does wrong, by name, for tests of what stands above the model. Answers that are
 * wrong in themselves are made from the right one, `text`.
 */
export const faults = {
  rateLimit: (retryAfter = 1): Behaviour => ({
    status: 429,
    error: { message: 'Rate limit reached for requests.', type: 'requests', code: 'rate_limit_exceeded' },
    headers: { 'retry-after': String(retryAfter) },
  }),
  insufficientQuota: (): Behaviour => ({
    status: 429,
    error: {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    },
  }),
  wrongKey: (): Behaviour => ({
    status: 401,
    error: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' },
  }),
  unpaid: (): Behaviour => ({ status: 402, error: { message: 'Insufficient credits.' } }),
  forbidden: (): Behaviour => ({ status: 403, error: { message: 'This key may not use that model.' } }),
  serverError: (): Behaviour => ({ status: 500, error: { message: 'The server had an error.', type: 'server_error' } }),
  overloaded: (): Behaviour => ({ status: 503, error: { message: 'Overloaded.', type: 'server_error' } }),
  tooLong: (): Behaviour => ({
    status: 400,
    error: {
      message: "This model's maximum context length is 128000 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'messages',
    },
  }),
  webPage: (): Behaviour => ({
    raw: '<!DOCTYPE html><html><body>Please log in</body></html>',
    contentType: 'text/html; charset=utf-8',
  }),
  stalled: (): Behaviour => ({ stall: true, after: 40 }),
  droppedBefore: (): Behaviour => ({ drop: 'before' }),
  droppedInTheMiddle: (): Behaviour => ({ drop: 'middle' }),
  cutBody: (text: string): Behaviour => ({ cut: 0.6, answer: { text } }),
  truncatedJson: (text: string): Answer => ({ text: text.slice(0, Math.floor(text.length * 0.6)), finish: 'length' }),
  fenced: (text: string): Answer => ({ text: `\`\`\`json\n${text}\n\`\`\`` }),
  thinking: (text: string): Answer => ({ text: `<think>Let me see. {"draft": true}</think>\n${text}` }),
  proseAround: (text: string): Answer => ({ text: `Sure, here it is:\n\n${text}\n\nAnything else?` }),
  conversation: (): Answer => ({ text: 'Done! I have fixed the test. Shall I push it?' }),
  refusal: (): Answer => ({ refusal: 'I cannot help with that.' }),
  empty: (): Answer => ({ text: '' }),
  filtered: (): Answer => ({ text: '', finish: 'content_filter' }),
} as const;
