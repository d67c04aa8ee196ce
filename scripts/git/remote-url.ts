import { GitError } from './errors.ts';

/** An address, taken apart. `user` and `password` are for `credentialsOf` and the transport alone. */
export interface Address {
  readonly kind: 'http' | 'ssh' | 'git' | 'file' | 'helper';
  /** Without user, password and query: for people, and for http as an argument as well. */
  readonly shown: string;
  /** What the git program is given: an ssh address keeps its user, nothing keeps a password. */
  readonly argument: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Takes a remote's address apart: URL, `user@host:path` or a path.
 * @param trusted whether it stands in the clone's own configuration, where other programs may be named (`helper::…`).
 * @throws GitError that does not repeat the address, since it may hold a password.
 */
export function parseAddress(text: string, trusted: boolean): Address {
  const plain = { user: '', password: '' };
  if (text === '' || text.length > 4_096 || text.startsWith('-') || /[\x00-\x1f\x7f]/.test(text)) throw wrongAddress();
  if (/^[A-Za-z0-9+.-]{1,40}::/.test(text)) {
    if (!trusted) throw wrongAddress();
    return { kind: 'helper', shown: `${text.slice(0, text.indexOf('::'))}::…`, argument: text, ...plain };
  }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]{1,30}):\/\//.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) return fromUrl(scheme, text);
  const scp = /^(?:([^@/:]{1,256})(?::[^@/]{0,1024})?@)?(\[[^\]/]{1,100}\]|[^/:@]{1,256}):(.{1,2048})$/.exec(text);
  if (scp !== null && !/^[A-Za-z]:[\\/]/.test(text)) {
    const [, user = '', host = '', path = ''] = scp;
    if (host.startsWith('-') || user.startsWith('-')) throw wrongAddress();
    const shown = `${host}:${path}`;
    return { kind: 'ssh', shown, argument: user === '' ? shown : `${user}@${shown}`, user, password: '' };
  }
  return { kind: 'file', shown: text, argument: text, ...plain };
}

function fromUrl(scheme: string, text: string): Address {
  const kind = kinds[scheme];
  if (kind === undefined || !URL.canParse(text)) throw wrongAddress();
  const url = new URL(text);
  if (kind !== 'file' && (url.hostname === '' || url.hostname.startsWith('-'))) throw wrongAddress();
  const user = decoded(url.username);
  const password = decoded(url.password);
  url.password = '';
  url.search = '';
  url.hash = '';
  const withUser = url.href;
  url.username = '';
  const shown = kind === 'http' ? url.href.replace(/\/{1,99}$/, '') : url.href;
  return { kind, shown, argument: kind === 'ssh' ? withUser : shown, user, password };
}

const kinds: Readonly<Record<string, Address['kind']>> = {
  http: 'http',
  https: 'http',
  ssh: 'ssh',
  'git+ssh': 'ssh',
  'ssh+git': 'ssh',
  git: 'git',
  file: 'file',
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

function wrongAddress(): GitError {
  return new GitError(
    "The remote's address is none that Git can use.",
    'Write it like https://host/owner/repository.git, git@host:owner/repository.git or /a/folder.',
  );
}
