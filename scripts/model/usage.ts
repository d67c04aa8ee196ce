import type { Usage } from './types.ts';

export const noUsage: Usage = { requests: 0, input: 0, cached: 0, output: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    requests: a.requests + b.requests,
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
  };
}
