import { byBinary } from '../shared/files.ts';
import { parsedJson } from '../shared/json.ts';

/** The newest of tags like `v1.2.3`, by number; what comes after a hyphen is no release. */
export function newestTag(tags: Iterable<string>): string | null {
  const releases = [...tags].flatMap((tag) => {
    const match = /^v(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(tag);
    return match === null ? [] : [{ tag, numbers: match.slice(1).map(Number) }];
  });
  return releases.sort((a, b) => compare(a.numbers, b.numbers) || byBinary(a.tag, b.tag)).at(-1)?.tag ?? null;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/** What a package.json says of itself; null for what it does not say, or what is no text. */
export interface PackageFacts {
  readonly version: string | null;
  /** The address of its repository, without npm's `git+`. */
  readonly repository: string | null;
}

/** @param text null: there is none. A text that is no JSON says nothing. */
export function packageFacts(text: string | null): PackageFacts {
  const value = parsedJson(text ?? '');
  const repository = at(value, 'repository');
  const url = typeof repository === 'string' ? repository : at(repository, 'url');
  const version = at(value, 'version');
  return {
    version: typeof version === 'string' ? version : null,
    repository: typeof url === 'string' && url !== '' ? url.replace(/^git\+/, '') : null,
  };
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
