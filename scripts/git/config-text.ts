/** The values of a Git configuration by key: `core.bare`, `remote.origin.url`. The last value of a key wins. */
export type GitConfig = ReadonlyMap<string, string>;

/**
 * Reads one configuration file. Sections and names are lower-cased, a subsection (`origin`) is kept as written. Files
 * that it includes are not read, and a line that is no configuration is passed over, as the keys we need stand alone.
 */
export function parseGitConfig(text: string): GitConfig {
  const values = new Map<string, string>();
  let section = '';
  for (const line of text.replace(/\\\r?\n/g, '').split(/\r?\n/)) {
    const header = /^\s{0,99}\[([A-Za-z0-9.-]{1,200})(?:\s{1,99}"((?:[^"\\]|\\.){0,1000})")?\]/.exec(line);
    if (header) {
      const name = (header[1] ?? '').toLowerCase();
      section = header[2] === undefined ? name : `${name}.${header[2].replace(/\\(.)/g, '$1')}`;
    }
    const setting = /^\s{0,99}([A-Za-z][A-Za-z0-9-]{0,200})\s{0,99}(?:=(.*))?$/.exec(
      header ? line.slice(header[0].length) : line,
    );
    if (setting && section !== '')
      values.set(`${section}.${(setting[1] ?? '').toLowerCase()}`, plainValue(setting[2] ?? 'true'));
  }
  return values;
}

export function isOn(config: GitConfig, key: string): boolean {
  return /^(?:true|yes|on|1)$/i.test(config.get(key) ?? '');
}

/** `remote.<name>.url` as name to url. */
export function remoteUrls(config: GitConfig): ReadonlyMap<string, string> {
  const remotes = new Map<string, string>();
  for (const [key, url] of config) {
    if (key.startsWith('remote.') && key.endsWith('.url')) remotes.set(key.slice(7, -4), url);
  }
  return remotes;
}

/** Without quotes, escapes and a comment. */
function plainValue(text: string): string {
  let value = '';
  let quoted = false;
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '"') {
      quoted = !quoted;
    } else if (char === '\\') {
      at += 1;
      const next = text[at] ?? '';
      value += { n: '\n', t: '\t', b: '\b' }[next] ?? next;
    } else if (!quoted && (char === '#' || char === ';')) {
      break;
    } else {
      value += char;
    }
    if (quoted || !/\s/.test(char)) kept = value.length;
  }
  return value.slice(0, kept).trimStart();
}
