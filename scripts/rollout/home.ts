/**
 * A home folder of anybody, on any system, where a path may start: `/home/x`, `/Users/x`, `C:\Users\x` (also with the
 * backslashes that JSON doubles), `/mnt/c/Users/x`.
 */
const anyHome =
  /(?<![\p{L}\p{N}_.~-])(?:(?:\/var)?\/home\/|(?:\/mnt)?(?:\/[a-z])?\/Users\/|[A-Za-z]:(?:\\{1,2}|\/)Users(?:\\{1,2}|\/))[\p{L}\p{N}_][\p{L}\p{N}_.@+-]{0,63}/gu;

/** Claude Code names a folder after a path: `-home-dana-src-app`. */
const slugHome = /([\\/]-)(?:home|Users)-[A-Za-z0-9]{1,64}(?=[-\\/"'\s]|$)/g;

/** The text with every home folder as `~`, so that no user's name stays in a path. */
export function withoutHomes(text: string, home: string): string {
  const named = isNamedHome(home) && text.includes(home) ? withoutExactly(text, home) : text;
  if (!named.includes('home') && !named.includes('Users')) return named;
  return named.replace(anyHome, '~').replace(slugHome, '$1~');
}

/** The rest of a path (`/` between parts) after a home folder, `''` for the folder itself, or null outside. */
export function belowHome(path: string, home: string): string | null {
  const own = slashes(home);
  if (isNamedHome(own) && (path === own || path.startsWith(`${own}/`))) return path.slice(own.length + 1);
  anyHome.lastIndex = 0;
  const match = anyHome.exec(path);
  anyHome.lastIndex = 0;
  if (match?.index !== 0) return null;
  const rest = path.slice(match[0].length);
  return rest === '' ? '' : rest.startsWith('/') ? rest.slice(1) : null;
}

/** Forward slashes, no slash at the end. */
export function slashes(path: string): string {
  const forward = path.replaceAll('\\', '/');
  return forward.length > 1 && forward.endsWith('/') ? forward.slice(0, -1) : forward;
}

/** `/` or nothing would turn every path into `~`. */
function isNamedHome(home: string): boolean {
  return home.length > 1 && home !== '//';
}

function withoutExactly(text: string, home: string): string {
  const parts = text.split(home);
  let shown = parts[0] ?? '';
  for (const part of parts.slice(1)) {
    const isWhole = !/[\p{L}\p{N}_.-]$/u.test(shown) && !/^[\p{L}\p{N}_-]/u.test(part);
    shown += (isWhole ? '~' : home) + part;
  }
  return shown;
}
