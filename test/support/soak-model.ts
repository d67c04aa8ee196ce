import { sha256 } from '../../scripts/shared/thread-id.ts';
import { startApiServer } from './api-server.ts';
import type { Answer, Behaviour, RecordedRequest } from './api-types.ts';
import type { Ending } from './repository.ts';
import { agentAnswer } from './scripted-agent.ts';
import { extractionAnswer, isExtraction } from './scripted-extractor.ts';

/** US dollars for a million tokens. */
const prices = { small: { input: 2, cached: 2, output: 8 }, large: { input: 3, cached: 3, output: 12 } } as const;

/** Tokens a night by phase, dollars a month. */
export const caps = { phase1: 120_000, phase2: 400_000, usdPerMonth: 2.5 } as const;

export function soakModelConfig(baseUrl: string): string {
  const listed = JSON.stringify({ extract: prices.small, consolidation: prices.large });
  const model = `{ provider: openai, base_url: "${baseUrl}", wire: chat, extract_model: small, consolidation_model: large, prices: ${listed} }`;
  const { phase1, phase2, usdPerMonth } = caps;
  return `${model}\nbudget: { phase1_tokens: ${phase1}, phase2_tokens: ${phase2}, usd_per_month: ${usdPerMonth} }`;
}

/** An answer that left the server whole. */
export interface Paid {
  /** Which night's: as `SoakModel.night` was when it was asked. */
  readonly night: number;
  /** Whose key it came with. */
  readonly machine: string;
  readonly phase: 'phase1' | 'phase2';
  readonly tokens: number;
  readonly usd: number;
  readonly request: string;
}

export interface SoakModel {
  readonly baseUrl: string;
  readonly paid: readonly Paid[];
  /** Whether any request, whoever asked, held what none may hold. */
  readonly hasLeaked: boolean;
  /** What goes wrong with the n-th request of this night, from 1; null: it is answered as it should be. */
  fault: ((n: number, request: RecordedRequest) => Behaviour | null) | null;
  /** The number of tonight; setting it starts the requests' numbers again. */
  night: number;
}

/** A model's server that keeps account of what it answered. @param secret what no request may hold. */
export async function aSoakModel(t: Ending, secret: string): Promise<SoakModel> {
  const paid: Paid[] = [];
  let hasLeaked = false;
  let night = 0;
  let requests = 0;
  let fault: SoakModel['fault'] = null;
  const server = await startApiServer({
    record: false,
    behave: (request) => {
      requests += 1;
      const text = JSON.stringify(request.body);
      hasLeaked ||= text.includes(secret);
      const wrong = fault?.(requests, request) ?? null;
      if (wrong !== null && !isAnswer(wrong)) return wrong;
      const answer: Answer = wrong ?? (isExtraction(request) ? extractionAnswer(request) : agentAnswer(request));
      const usage = { input: Math.ceil(text.length / 4), output: Math.ceil(JSON.stringify(answer).length / 4) };
      const isSmall = request.body.model === 'small';
      const price = isSmall ? prices.small : prices.large;
      paid.push({
        night,
        machine: request.headers.authorization ?? '',
        phase: isSmall ? 'phase1' : 'phase2',
        tokens: usage.input + usage.output,
        usd: (usage.input * price.input + usage.output * price.output) / 1_000_000,
        request: wrong === null ? sha256(text) : '',
      });
      return { ...answer, usage };
    },
  });
  t.after(() => server.close());
  return {
    baseUrl: server.baseUrl,
    paid,
    get hasLeaked() {
      return hasLeaked;
    },
    get fault() {
      return fault;
    },
    set fault(next) {
      fault = next;
    },
    get night() {
      return night;
    },
    set night(next) {
      night = next;
      requests = 0;
    },
  };
}

function isAnswer(behaviour: Behaviour): behaviour is Answer {
  return !['status', 'raw', 'drop', 'stall', 'cut'].some((way) => way in behaviour);
}
