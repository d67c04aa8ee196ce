/** Tokens of one or more requests. `cached` is the part of `input` that the server had cached. */
export interface Usage {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, strict: every property required, none additional. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote it: JSON, not yet parsed. */
  readonly arguments: string;
}

export type Message =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };

export interface ModelRequest {
  /** What it is for: journal key, ledger and caps. */
  readonly purpose: 'phase1' | 'phase2';
  /** The thread id or scope that it is for. */
  readonly subject: string;
  /** Hash of the prompt files behind it. */
  readonly promptHash: string;
  readonly model: string;
  /** 1 for the first; a repair or a second try of the same request counts up. */
  readonly attempt: number;
  readonly messages: readonly Message[];
  /** A strict JSON schema for the reply's text. */
  readonly schema?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  readonly tools?: readonly ToolSpec[];
  readonly maxOutputTokens: number;
  readonly effort?: 'low' | 'medium' | 'high';
}

export interface ModelReply {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** `length`: cut off. `refusal`: the model or a filter would not answer. */
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'refusal';
  readonly usage: Usage;
  /** The model's name as the server gave it. */
  readonly model: string;
  /** Smallest remaining share (0…1) of any allowance that the server reports. */
  readonly allowance?: number;
}

/** Resolves for every reply that arrives, a refusal or a cut-off one too; rejects only with ModelError, retries spent. */
export interface Model {
  ask(request: ModelRequest, signal?: AbortSignal): Promise<ModelReply>;
}
