import { posix } from 'node:path';
import { fitsAName } from '../shared/safe-path.ts';
import { belowHome, slashes, withoutHomes } from './home.ts';

/** Hosts by which one server answers on another port. */
const sameHost: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
};

/**
 * The id of the repository behind a remote's URL: `host/path`, the host in lower case, without scheme, user, port,
 * `.git` and slash at the end, so that ssh, scp and https forms are one.
 * @returns null for what names no host: a path, a drive, `file://`; and for what no file could be named after.
 */
export function repositoryId(url: string): string | null {
  const text = url.trim();
  if (text.length > 2000 || /[\s\\\x00-\x1f\x7f-\x9f]/.test(text)) return null;
  const withScheme = /^(?:git\+)?(https?|ssh|git|ftps?):\/\/(.+)$/i.exec(text);
  if (withScheme !== null) return joined(...cut(withScheme[2] ?? '', '/'));
  if (text.includes('://') || text.includes('::') || text.startsWith('/') || text.startsWith('.')) return null;
  const [host, path] = cut(text, ':');
  return host.includes('/') || /^[A-Za-z]$/.test(host) ? null : joined(host, path);
}

/** Which of a session's repository ids is its scope: the first `include` entry that matches any, else the first. */
export function chooseRepository(
  ids: readonly string[],
  include: readonly string[],
): { repo: string | null; aliases: string[] } {
  const unique = [...new Set(ids)];
  const wanted = include.map((entry) => unique.find((id) => isIncluded(id, [entry]))).find((id) => id !== undefined);
  const repo = wanted ?? unique[0] ?? null;
  return { repo, aliases: unique.filter((id) => id !== repo) };
}

/** Whether a repository id is meant by an entry: the id itself or `host/group/*`. */
export function isIncluded(id: string, include: readonly string[]): boolean {
  return include.some((entry) => {
    const stem = entry.replace(/\/$/, '').replace(/\.git$/, '');
    return stem === id || (stem.endsWith('/*') && id.startsWith(stem.slice(0, -1)));
  });
}

/**
 * A path of a session as memory may show it: relative to the repository's root (`.` is the root), `~/…` below any
 * home folder, else only the last name after `…/`: nobody's name and no machine's layout gets through.
 * @param root the repository's root folder, or null where the session has none.
 */
export function relativeCwd(path: string, root: string | null, home: string): string {
  const clean = normal(path);
  const base = root === null ? null : normal(root);
  if (base !== null && isBelow(clean, base)) return clean.length === base.length ? '.' : clean.slice(base.length + 1);
  if (!isAbsolute(clean)) return clean.startsWith('..') ? lastName(clean) : clean;
  const below = belowHome(clean, home);
  if (below !== null) return below === '' ? '~' : withoutHomes(`~/${below}`, home);
  return lastName(clean);
}

/** A path that an agent names inside a session: relative ones start at the session's folder. */
export function relativeFile(path: string, cwd: string | null, root: string | null, home: string): string {
  const given = fromFileUrl(path);
  const clean = normal(given);
  if (isAbsolute(clean) || clean.startsWith('~') || cwd === null) return relativeCwd(clean, root, home);
  return relativeCwd(`${slashes(cwd)}/${clean}`, root, home);
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function joined(authority: string, rest: string): string | null {
  const named = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .toLowerCase();
  const host = Object.hasOwn(sameHost, named) ? (sameHost[named] ?? named) : named;
  const path = (rest.split(/[?#]/, 1)[0] ?? '').split('/').filter((part) => part !== '');
  const last = path.at(-1)?.replace(/\.git$/i, '');
  if (last === undefined || last === '' || !isHost(host)) return null;
  const parts = [...path.slice(0, -1), last];
  const id = `${host}/${parts.join('/')}`;
  return parts.includes('..') || parts.includes('.') || !fitsAName(id) ? null : id;
}

/** The pattern of all letters takes milliseconds to make ready, which a session would wait for. */
function isHost(text: string): boolean {
  return /^[a-z0-9._[\]:-]{1,253}$/.test(text) || /^[\p{L}\p{N}._[\]:-]{1,253}$/u.test(text);
}

function normal(path: string): string {
  return slashes(posix.normalize(slashes(path.trim()) || '.'));
}

function fromFileUrl(path: string): string {
  return path.startsWith('file://') ? path.slice('file://'.length).replace(/^\/(?=[A-Za-z]:\/)/, '') : path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || isDrive(path);
}

function isDrive(path: string): boolean {
  return /^[A-Za-z]:/.test(path);
}

/** Drives compare without regard to case, as Windows does. */
function isBelow(path: string, base: string): boolean {
  const [inner, outer] = isDrive(base) ? [path.toLowerCase(), base.toLowerCase()] : [path, base];
  return inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`);
}

function lastName(path: string): string {
  const name = path
    .split('/')
    .filter((part) => part !== '' && part !== '..' && !/^[A-Za-z]:$/.test(part))
    .at(-1);
  return name === undefined ? '…' : withoutHomes(`…/${name}`, '');
}
