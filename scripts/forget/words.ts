/** How a text hides the words that are looked for. */
export type Form = 'plain' | 'json' | 'url' | 'base64' | 'utf-16';

/** Words that count in any case, over any width of white space. */
export interface Words {
  readonly isEmpty: boolean;
  stand(text: string): boolean;
  /** The form in which one of them stands in bytes; null where none does. */
  formIn(bytes: Buffer): Form | null;
}

export function wordsOf(texts: readonly string[]): Words {
  const wanted = [...new Set(texts.map(plain))].filter((text) => text !== '');
  const stand = (text: string): boolean => {
    if (wanted.length === 0) return false;
    const shown = plain(text);
    return wanted.some((one) => shown.includes(one));
  };
  return {
    isEmpty: wanted.length === 0,
    stand,
    formIn: (bytes) => {
      if (wanted.length === 0) return null;
      for (const [form, text] of formsOf(bytes)) if (stand(text)) return form;
      return null;
    },
  };
}

/** What makes two spellings the same words: composed, in lower case, one space for any white space. */
export function plain(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** The text as it is, then as it reads with its escapes undone, once and once more (a request within a record). */
function* formsOf(bytes: Buffer): Generator<[Form, string]> {
  const text = bytes.toString('utf8');
  yield ['plain', text];
  if (bytes.includes(0)) {
    yield ['utf-16', bytes.toString('utf16le')];
    yield ['utf-16', bytes.subarray(1).toString('utf16le')];
  }
  yield* undone(text);
  for (const decoded of base64In(text)) {
    yield ['base64', decoded];
    for (const [, inner] of undone(decoded)) yield ['base64', inner];
  }
}

function* undone(text: string): Generator<[Form, string]> {
  if (text.includes('\\')) {
    const once = withoutJson(text);
    yield ['json', once];
    const twice = withoutJson(once);
    if (twice !== once) yield ['json', twice];
    if (once.includes('%')) yield ['url', withoutPercent(once)];
  }
  if (/%[0-9a-f]{2}/i.test(text)) {
    const once = withoutPercent(text);
    yield ['url', once];
    yield ['url', withoutPercent(once).replaceAll('+', ' ')];
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function withoutJson(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi,
    (_, code: string | undefined, sign: string | undefined) =>
      code === undefined ? (escapes[sign ?? ''] ?? sign ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function withoutPercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** Runs long enough to hold words, lines of a wrapped text joined; where one begins is not known, so at each place. */
function* base64In(text: string): Generator<string> {
  const joined = text.replace(/([A-Za-z0-9+/_-]{60,76})\r?\n(?=[A-Za-z0-9+/_-])/g, '$1');
  for (const [run] of joined.matchAll(/[A-Za-z0-9+/_-]{12,}/g)) {
    if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(run)) continue;
    for (let from = 0; from < 4; from += 1) yield Buffer.from(run.slice(from), 'base64').toString('utf8');
  }
}
