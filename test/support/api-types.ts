/** The two ways in which OpenAI's interface is spoken. */
export type Wire = 'chat' | 'responses';

/** One request as it arrived. `body` is parsed JSON. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** All texts of its messages, in order, whatever the wire. */
  readonly texts: readonly string[];
}

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly id?: string;
}

/** What the model says, or what goes wrong instead. */
export type Behaviour =
  | Answer
  /** An answer with an error status; `error` in OpenAI's form unless `body` gives the whole body. */
  | {
      readonly status: number;
      readonly error?: {
        readonly message: string;
        readonly type?: string;
        readonly code?: string;
        readonly param?: string;
      };
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Success with a body of the caller's choice. */
  | { readonly raw: string; readonly contentType: string; readonly headers?: Readonly<Record<string, string>> }
  /** Headers (with status `code`, 200), then nothing more; with `after`, that many characters of the answer first. */
  | { readonly stall: true; readonly after?: number; readonly code?: number }
  /** The connection breaks: `before` any byte, or in the `middle` of the answer. */
  | { readonly drop: 'before' | 'middle' }
  /** The body ends properly, but after this share (0…1) of the answer. */
  | { readonly cut: number; readonly answer: Answer };

export interface Answer {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly refusal?: string;
  readonly finish?: 'stop' | 'length' | 'content_filter';
  readonly usage?: { readonly input: number; readonly cached?: number; readonly output: number };
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves the token counts out, as some servers do. */
  readonly withoutUsage?: boolean;
}

export interface ApiError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}
