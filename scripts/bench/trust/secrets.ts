import { auditSecrets } from '../../check/secretlint.ts';
import { createRedactor } from '../../shared/redact.ts';
import { lotsFrom } from './lots.ts';

export interface SecretFamily {
  readonly family: string;
  readonly planted: number;
  /** Of those, whose secret is found whole. */
  readonly ours: number;
  readonly codex: number;
  readonly secretlint: number;
}

export interface SecretFigures {
  readonly families: readonly SecretFamily[];
  /** Lines without a secret, and how many each takes for one. */
  readonly harmless: Omit<SecretFamily, 'family'>;
}

/** Put together only here, so that no scanner takes this file for a leak: made-up secrets, each in a line of its kind. */
export async function measureSecrets(): Promise<SecretFigures> {
  const families = await Promise.all(
    Object.entries(secretsByFamily(perForm)).map(async ([family, lines]) => ({
      family,
      ...(await counted(
        lines.map(({ line, secret }) => ({ line, isHit: (text: string) => !text.includes(core(secret)) })),
      )),
    })),
  );
  const harmless = await counted(
    harmlessLines(perForm).map((line) => ({ line, isHit: (text: string) => text !== line })),
  );
  return { families, harmless };
}

const perForm = 5;

interface Trial {
  readonly line: string;
  /** Whether what a redactor leaves of the line counts as found. */
  isHit(text: string): boolean;
}

async function counted(trials: readonly Trial[]): Promise<Omit<SecretFamily, 'family'>> {
  const { redact } = createRedactor({});
  const audited = await Promise.all(trials.map(async ({ line, isHit }) => isHit(await withoutAudited(line))));
  return {
    planted: trials.length,
    ours: trials.filter(({ line, isHit }) => isHit(redact(line))).length,
    codex: trials.filter(({ line, isHit }) => isHit(byFourPatterns(line))).length,
    secretlint: audited.filter((isFound) => isFound).length,
  };
}

async function withoutAudited(line: string): Promise<string> {
  const found = [...(await auditSecrets('memories/MEMORY.md', line))].sort((a, b) => b.start - a.start);
  return found.reduce((text, { start, end }) => `${text.slice(0, start)}#${text.slice(end)}`, line);
}

/** @source Codex's `redact_secrets`, as spec §4.7 describes it: four patterns, in this order. */
function byFourPatterns(text: string): string {
  return text
    .replace(/\bBearer[ \t]+[A-Za-z0-9._~+/-]{16,}=*/gi, 'Bearer #')
    .replace(/sk-[A-Za-z0-9]{20,}/g, '#')
    .replace(/\bAKIA[0-9A-Z]{16}\b/g, '#')
    .replace(/\b(api[_-]?key|token|secret|password)\b(\s*[:=]\s*)(["']?)[^\s"']{8,}/gi, '$1$2$3#');
}

/** The middle of a secret: who leaves that has not found it. */
function core(secret: string): string {
  const from = Math.floor(secret.length / 4);
  return secret.slice(from, Math.max(from + 4, Math.floor((secret.length * 3) / 4)));
}

interface Planted {
  readonly line: string;
  readonly secret: string;
}

function secretsByFamily(count: number): Record<string, Planted[]> {
  const lots = lotsFrom(4_711);
  const made = (length: number, alphabet = alnum) =>
    Array.from({ length }, () => alphabet[lots.below(alphabet.length)]).join('');
  const each = (make: () => string, lines: readonly ((secret: string) => string)[]): Planted[] =>
    Array.from({ length: count }, (_, at) => {
      const secret = make();
      return { secret, line: lines[at % lines.length]?.(secret) ?? secret };
    });
  const shown = [
    (secret: string) => secret,
    (secret: string) => `curl -H "X-Key: ${secret}" https://api.example.test`,
    (secret: string) => `export KEY=${secret}`,
    (secret: string) => JSON.stringify({ output: `wrote ${secret} to the log` }),
    (secret: string) => `- the key is ${secret} [k3f7x2ab@12]`,
  ];
  const word = () => `${made(1, lower)}${made(9)}${made(2, digits)}`;
  return {
    'AI providers': [
      ...each(() => ['s', 'k-', made(48)].join(''), shown),
      ...each(() => ['s', 'k-proj-', made(70), '_', made(40)].join(''), shown),
      ...each(() => ['s', 'k-ant-', 'api03-', made(93), 'AA'].join(''), shown),
      ...each(() => ['h', 'f_', made(34, lower + upper)].join(''), shown),
    ],
    'code hosts': [
      ...each(() => ['gh', 'p_', made(36)].join(''), shown),
      ...each(() => ['github', '_pat_', made(22), '_', made(59)].join(''), shown),
      ...each(() => ['gl', 'pat-', made(20)].join(''), shown),
      ...each(() => ['np', 'm_', made(36)].join(''), shown),
    ],
    clouds: [
      ...each(() => ['AK', 'IA', made(16, `${upper}234567`)].join(''), shown),
      ...each(() => ['AI', 'za', made(35)].join(''), shown),
      ...each(() => ['do', 'p_v1_', made(64, hex)].join(''), shown),
      ...each(() => ['hv', 's.', made(95)].join(''), shown),
    ],
    'messages and payment': [
      ...each(() => ['xo', 'xb-', made(12, digits), '-', made(12, digits), '-', made(24)].join(''), shown),
      ...each(() => ['s', 'k_live_', made(24)].join(''), shown),
      ...each(() => ['S', 'G.', made(22), '.', made(43)].join(''), shown),
      ...each(
        () => ['https://hooks.', 'slack.com/services/T', made(8, upper), '/B', made(8, upper), '/', made(24)].join(''),
        [(secret) => secret, (secret) => `post to ${secret}`],
      ),
    ],
    'signed tokens': each(
      () => ['ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'J', made(40), '.', made(43)].join(''),
      [...shown, (secret) => `Authorization: Bearer ${secret}`],
    ),
    'private keys': each(
      () => made(400),
      [
        (secret) => `-----BEGIN ${'PRIVATE'} KEY-----\n${secret}\n-----END ${'PRIVATE'} KEY-----`,
        (secret) => `-----BEGIN OPENSSH ${'PRIVATE'} KEY-----\n${secret}\n-----END OPENSSH ${'PRIVATE'} KEY-----`,
      ],
    ),
    'passwords in addresses': each(word, [
      (secret) => `postgres://app:${secret}@db.example.test:5432/app`,
      (secret) => `git clone https://dana:${secret}@git.example.test/acme/app.git`,
      (secret) => `redis://:${secret}@cache.example.test:6379`,
    ]),
    assignments: each(word, [
      (secret) => `DB_PASSWORD=${secret}`,
      (secret) => `password: "${secret}"`,
      (secret) => `client_secret = '${secret}'`,
      (secret) => `"api_key": "${secret}",`,
      (secret) => `mysql --password=${secret} app`,
    ]),
    headers: each(
      () => made(40),
      [
        (secret) => `Authorization: Bearer ${secret}`,
        (secret) => `curl -H 'Authorization: token ${secret}' https://git.example.test`,
        (secret) => `X-Api-Key: ${secret}`,
        (secret) => `Cookie: session=${secret}`,
      ],
    ),
  };
}

function harmlessLines(count: number): string[] {
  const lots = lotsFrom(815);
  const made = (length: number, alphabet: string) =>
    Array.from({ length }, () => alphabet[lots.below(alphabet.length)]).join('');
  return Array.from({ length: count }).flatMap(() => [
    `commit ${made(40, hex)}`,
    `sha256:${made(64, hex)}`,
    `"id": "${[8, 4, 4, 4, 12].map((length) => made(length, hex)).join('-')}"`,
    `"integrity": "sha512-${made(86, alnum)}=="`,
    `"call_id":"call_${made(24, hex)}"`,
    'const token = lexer.next_token();',
    'password = getpass.getpass("Password: ")',
    'api_key=os.environ["API_KEY"]',
    "'Authorization': 'Bearer ' + token",
    ['token: process', '.env.TOKEN,'].join(''),
    '- the tests of the token parser need `node --test` [k3f7x2ab@12]',
    `cache-key: node-modules-${made(12, hex)}`,
    '"password": {"type": "string"}',
    'if (secret === undefined) throw new Error("no secret");',
    'password: <your password>',
    'the password prompt appears twice; see src/password/prompt.ts:12',
  ]);
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';
const alnum = `${lower}${upper}${digits}`;
const hex = `${digits}abcdef`;
