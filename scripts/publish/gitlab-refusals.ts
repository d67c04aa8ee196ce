import { at, textAt } from '../model/at.ts';
import { type ApiAnswer, askedWait } from './api.ts';
import { ForgeError, type ForgeErrorKind } from './errors.ts';

/** What GitLab's answer with an error status means for a person. */
export function gitlabRefusal(answer: ApiAnswer): ForgeError {
  const words = answer.quoted(wordsOf(answer.value));
  const kind = kindOf(answer, words);
  const asked = kind === 'rate_limit' ? askedWait(answer.headers) : null;
  return new ForgeError(
    kind,
    `${sentences[kind]} (${answer.status}${words === '' ? '' : `: ${words}`}).`,
    hints[kind],
    {
      status: answer.status,
      words,
      ...(asked === null ? {} : { retryAfter: asked }),
      mayPass: kind === 'rate_limit' || (kind === 'server' && answer.status !== 501 && answer.status !== 505),
    },
  );
}

type Refused = Exclude<ForgeErrorKind, 'network' | 'aborted' | 'setting' | 'no_commits'>;

function kindOf({ status, value }: ApiAnswer, words: string): Refused {
  if (status === 429) return 'rate_limit';
  if (status === 401) return 'auth';
  if (status === 403) return 'rights';
  if (status === 404 || status === 410) return 'not_found';
  if (status >= 500) return 'server';
  if (status === 409 && /already exists/i.test(words)) return 'taken';
  const isBranch = at(value, 'message', 'source_branch') ?? at(value, 'message', 'target_branch');
  return isBranch === undefined ? 'validation' : 'branch';
}

const sentences: Record<Refused, string> = {
  auth: 'GitLab refuses the token',
  rights: 'GitLab does not let this token do that',
  not_found: 'GitLab does not know it, or hides it from this token',
  taken: 'Another merge request already proposes this branch',
  branch: 'GitLab does not know the branch or its target',
  validation: 'GitLab refuses the request',
  rate_limit: 'GitLab limits the rate of requests',
  server: 'GitLab failed',
};

const hints: Record<Refused, string> = {
  auth: 'Renew the token in the variable that delivery.token_env names (a job’s own token cannot open merge requests). Nothing was changed there.',
  rights: 'Use a project access token with the scope “api” and the role Developer or higher.',
  not_found: 'Check the remote’s address and whether the token was given this project.',
  taken: 'Close the other one, or set another delivery.branch.',
  branch: 'Check delivery.base, and that the branch was pushed.',
  validation: 'Check delivery in .github/memory.yml.',
  rate_limit: 'Nothing was lost: run it again later.',
  server: 'Nothing was lost: run it again later.',
};

/** Its words come as a text, a list, or lists by field. */
function wordsOf(value: unknown): string {
  const message = at(value, 'message');
  if (typeof message === 'string') return message;
  if (Array.isArray(message)) return message.filter((part) => typeof part === 'string').join('; ');
  if (typeof message === 'object' && message !== null)
    return Object.entries(message)
      .map(([field, faults]) => `${field} ${[faults].flat().map(String).join(', ')}`)
      .join('; ');
  return [textAt(value, 'error'), textAt(value, 'error_description')].filter((part) => part !== null).join(': ');
}
