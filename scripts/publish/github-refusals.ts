import { listAt, textAt } from '../model/at.ts';
import { type ApiAnswer, askedWait } from './api.ts';
import { ForgeError, type ForgeErrorKind } from './errors.ts';

/** What GitHub's answer with an error status means for a person. */
export function githubRefusal(answer: ApiAnswer): ForgeError {
  const words = answer.quoted(wordsOf(answer.value));
  const kind = kindOf(answer, words);
  const asked = kind === 'rate_limit' ? (askedWait(answer.headers) ?? secondaryWait(answer.status)) : null;
  return new ForgeError(
    kind,
    `${sentences[kind]} (${answer.status}${words === '' ? '' : `: ${words}`}).`,
    hintOf(kind, answer),
    {
      status: answer.status,
      words,
      ...(asked === null ? {} : { retryAfter: asked }),
      mayPass: kind === 'rate_limit' || (kind === 'server' && answer.status !== 501 && answer.status !== 505),
    },
  );
}

type Refused = Exclude<ForgeErrorKind, 'network' | 'aborted'>;

const sentences: Record<Refused, string> = {
  auth: 'GitHub refuses the token',
  rights: 'GitHub does not let this token do that',
  setting: 'This repository does not let Actions open pull requests',
  not_found: 'GitHub does not know it, or hides it from this token',
  taken: 'Another pull request already proposes this branch',
  no_commits: 'The branch holds nothing that its base does not hold',
  branch: 'GitHub does not know the branch or its base',
  validation: 'GitHub refuses the request',
  rate_limit: 'GitHub limits the rate of requests',
  server: 'GitHub failed',
};

function kindOf({ status, headers, value }: ApiAnswer, words: string): Refused {
  if (status === 429 || (status === 403 && isLimit(headers, words))) return 'rate_limit';
  if (status === 401) return 'auth';
  if (status === 403) return /not permitted to create or approve pull requests/i.test(words) ? 'setting' : 'rights';
  if (status === 404 || status === 410 || status === 451) return 'not_found';
  if (status >= 500) return 'server';
  if (/pull request already exists/i.test(words)) return 'taken';
  if (/no commits between/i.test(words)) return 'no_commits';
  const isBranch = listAt(value, 'errors').some((error) => /^(head|base)$/.test(textAt(error, 'field') ?? ''));
  return isBranch ? 'branch' : 'validation';
}

function isLimit(headers: Headers, words: string): boolean {
  return (
    headers.has('retry-after') ||
    headers.get('x-ratelimit-remaining') === '0' ||
    /rate limit|abuse detection/i.test(words)
  );
}

/** Seconds. Of a secondary limit that names no time, GitHub asks to wait a minute at least. */
function secondaryWait(status: number): number | null {
  return status === 403 ? 60 : null;
}

function hintOf(kind: Refused, { headers, quoted }: ApiAnswer): string {
  const needed = quoted(headers.get('x-accepted-github-permissions') ?? '');
  if (kind === 'rights' && headers.has('x-github-sso'))
    return 'The organization asks for single sign-on: authorize the token for it in your account, Settings → Developer settings.';
  if (kind === 'rights' && needed !== '') return `Give the token this permission: ${needed}. ${hints.rights}`;
  return hints[kind];
}

const hints: Record<Refused, string> = {
  auth: 'Renew the token in the variable that delivery.token_env names. Nothing was changed there.',
  rights:
    'In a workflow the job needs “permissions: contents: write, pull-requests: write” (for new labels “issues: write”); a fine-grained token the same on this repository.',
  setting:
    'Tick “Allow GitHub Actions to create and approve pull requests” in the repository’s Settings → Actions → General → Workflow permissions (an organization may forbid it in its own settings), or use the token of an App in the variable that delivery.token_env names.',
  not_found: 'Check the remote’s address and whether the token was given this repository.',
  taken: 'Close the other one, or set another delivery.branch.',
  no_commits: 'Nothing to do: there is nothing to review.',
  branch: 'Check delivery.base, and that the branch was pushed.',
  validation: 'Check delivery in .github/memory.yml.',
  rate_limit: 'Nothing was lost: run it again later.',
  server: 'Nothing was lost: run it again later; https://www.githubstatus.com says more.',
};

function wordsOf(value: unknown): string {
  const details = listAt(value, 'errors').map((error) => {
    if (typeof error === 'string') return error;
    const message = textAt(error, 'message');
    const place = ['resource', 'field', 'code'].map((key) => textAt(error, key) ?? '').filter((part) => part !== '');
    return message ?? place.join(' ');
  });
  return [textAt(value, 'message') ?? '', ...details].filter((part) => part !== '').join('; ');
}
