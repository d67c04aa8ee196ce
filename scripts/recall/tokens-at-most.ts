import { estimateTokens } from '../shared/tokens.ts';

export function tokensAtMost(text: string): number {
  return estimateTokens(text);
}
