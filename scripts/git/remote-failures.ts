import { RemoteAuthError, RemoteNotFoundError, RemoteUnreachableError } from './remote-errors.ts';

/** Errors about the other side, from words that are safe to show. Both backends use these, so they read the same. */
export function authError(url: string, words: string): RemoteAuthError {
  return new RemoteAuthError(
    sentence(`${url} does not let us in`, words),
    'Check that the token or key is set, has not expired and may do this: it needs to read and write the contents of that repository.',
  );
}

export function notFoundError(url: string, words: string): RemoteNotFoundError {
  return new RemoteNotFoundError(
    sentence(`There is no repository at ${url}, or this token may not see it`, words),
    'Check the address, and that the token was made for this repository.',
  );
}

export function unreachableError(url: string, words: string): RemoteUnreachableError {
  const hint = hints.find(([pattern]) => pattern.test(words))?.[1];
  return new RemoteUnreachableError(
    sentence(`${url} did not answer as a Git server does`, words),
    hint ?? 'Check the network and the address, then run it again; nothing is half done.',
  );
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /returned error: 30\d|redirect/i,
    'It has moved. Name its new address (git remote set-url …): a token is not sent on to another one.',
  ],
  [/resolve host|ENOTFOUND|EAI_AGAIN/i, 'Check the spelling of the host, and that this machine has a network.'],
  [/proxy/i, 'Check the proxy: HTTPS_PROXY and NO_PROXY, or git config http.proxy.'],
  [
    /certificate|SSL|TLS|SELF_SIGNED|CERT_|UNABLE_TO_VERIFY/i,
    "Its certificate is not trusted here. Give Git your organisation's one: git config http.sslCAInfo <file>, or NODE_EXTRA_CA_CERTS=<file> without git.",
  ],
  [/host key/i, "The server's key is not known to ssh. Connect once by hand and compare it: ssh -T git@<host>"],
  [
    /not valid: is this a git repository|text\/html|smart protocol/i,
    'Something else answers there, perhaps a login page: check the address, and that it ends as the host shows it for cloning.',
  ],
  [/(?:error:|status) (?:429|5\d\d)/i, 'The server is busy or down: run it again later.'],
];

function sentence(message: string, words: string): string {
  return words === '' ? `${message}.` : `${message}: ${words.replace(/\.{1,9}$/, '')}.`;
}
