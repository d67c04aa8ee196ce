import { byBinary, type Files } from '../shared/files.ts';
import { StateTreeError } from './errors.ts';
import { formatNightRecord, type NightRecord, parseNightRecord } from './night-record.ts';

/** Memory files by scope. */
export type FilesByScope = ReadonlyMap<string, Files>;

/** What the state ref's commit holds. A scope without files leaves no trace in it. */
export interface StateTree {
  /** `state.sqlite.json`, not opened. */
  readonly text: string;
  readonly night: NightRecord;
  /** The agent's own files at the scope's last success. */
  readonly baseline: FilesByScope;
  /** What of them last reached the default branch. */
  readonly reviewed: FilesByScope;
  /** By pull request: what was proposed there before it was closed. */
  readonly closed: ReadonlyMap<string, FilesByScope>;
}

/** Every path of the tree is one of these or below one. */
export const treeRoots = ['state.sqlite.json', 'night.json', 'baseline', 'reviewed', 'closed'] as const;

/** Paths in binary order: equal trees are equal files. */
export function filesOfTree(tree: StateTree): Files {
  const files: [string, string][] = [
    ['state.sqlite.json', tree.text],
    ['night.json', formatNightRecord(tree.night)],
    ...below('baseline', tree.baseline),
    ...below('reviewed', tree.reviewed),
    ...[...tree.closed].flatMap(([pullRequest, scopes]) => below(`closed/${segmentOf(pullRequest)}`, scopes)),
  ];
  return new Map(files.sort(([a], [b]) => byBinary(a, b)));
}

/** @throws StateTreeError for a file that is missing, unknown, or written by a newer version. */
export function treeOfFiles(files: Files): StateTree {
  const text = files.get('state.sqlite.json');
  const night = files.get('night.json');
  if (text === undefined || night === undefined)
    throw new StateTreeError(
      `The state's commit holds no ${text === undefined ? 'state.sqlite.json' : 'night.json'}.`,
      wayBack,
    );
  const record = parseNightRecord(night);
  const baseline = new Map<string, Map<string, string>>();
  const reviewed = new Map<string, Map<string, string>>();
  const closed = new Map<string, Map<string, Map<string, string>>>();
  for (const [path, content] of files) {
    const [root = '', ...rest] = path.split('/');
    if (path === 'state.sqlite.json' || path === 'night.json') continue;
    if (root === 'baseline') place(baseline, path, rest, content);
    else if (root === 'reviewed') place(reviewed, path, rest, content);
    else if (root === 'closed') place(entry(closed, scopeOf(path, rest[0])), path, rest.slice(1), content);
    else throw unknownPath(path);
  }
  return { text, night: record, baseline, reviewed, closed };
}

const wayBack = '`git log refs/memory/state` lists the states before it; each commit is whole.';

/** A scope or a pull request as one part of a path; reversible. */
function segmentOf(name: string): string {
  return encodeURIComponent(name).replaceAll('*', '%2A').replace(/^\./, '%2E');
}

function below(folder: string, scopes: FilesByScope): [string, string][] {
  return [...scopes].flatMap(([scope, files]) =>
    [...files].map(([path, content]): [string, string] => [`${folder}/${segmentOf(scope)}/${path}`, content]),
  );
}

function place(scopes: Map<string, Map<string, string>>, path: string, rest: readonly string[], content: string): void {
  const [segment, ...inside] = rest;
  if (inside.length === 0) throw unknownPath(path);
  entry(scopes, scopeOf(path, segment)).set(inside.join('/'), content);
}

function scopeOf(path: string, segment: string | undefined): string {
  try {
    const name = decodeURIComponent(segment ?? '');
    if (name !== '' && segmentOf(name) === segment) return name;
  } catch {
    // A lone `%`: as unknown as any other name that we would not have written.
  }
  throw unknownPath(path);
}

function entry<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = map.get(key);
  if (known) return known;
  const added = new Map<K, V>();
  map.set(key, added);
  return added;
}

function unknownPath(path: string): StateTreeError {
  return new StateTreeError(
    `The state's commit holds ${path}, which this version does not know.`,
    `Update this checkout if a newer version wrote it; else: ${wayBack}`,
  );
}
