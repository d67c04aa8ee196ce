import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import type { Backend } from './backend.ts';
import { explain, GitError, RefMovedError } from './errors.ts';
import type { Layout } from './layout.ts';
import { readLooseObjects } from './loose-read.ts';
import type { ObjectType, RawObject } from './objects.ts';
import { plainHead, plainRef } from './plain-refs.ts';
import { fieldsOf, output, type RunGit } from './program.ts';
import { programRefresh, programUncommitted } from './program-worktree.ts';
import { lockError } from './ref-name.ts';
import type { Head } from './types.ts';

/** Through the installed git program: every kind of repository that it knows. */
export function programBackend(git: RunGit, layout: Layout): Backend {
  return {
    name: 'git',
    readObjects: (oids) => readObjects(git, layout, oids),
    head: () => head(git, layout),
    readRef: (ref) => readRef(git, layout, ref),
    listRefs: (prefix) => listRefs(git, prefix),
    swapRef: (ref, expected, next) => swapRef(git, layout, ref, expected, next),
    remotes: () => remotes(git),
    firstParents: (from, limit) => revisions(git, [`--max-count=${limit}`, from]),
    firstCommit: async (from) => (await revisions(git, ['--max-parents=0', from]))[0] ?? from,
    uncommitted: (_, paths) => programUncommitted(git, paths),
    refresh: (from, to, changes) => programRefresh(git, layout, from, to, changes),
  };
}

async function readObjects(git: RunGit, layout: Layout, oids: readonly Oid[]): Promise<(RawObject | null)[]> {
  const loose = await readLooseObjects(join(layout.commonDir, 'objects'), oids);
  const others = oids.filter((_, at) => loose[at] === null);
  const found = new Map((await readBatch(git, others)).map((object, at) => [others[at], object]));
  return oids.map((oid, at) => loose[at] ?? found.get(oid) ?? null);
}

async function readBatch(git: RunGit, oids: readonly Oid[]): Promise<(RawObject | null)[]> {
  if (oids.length === 0) return [];
  const bytes = await output(git, ['cat-file', '--batch'], `${oids.join('\n')}\n`);
  let at = 0;
  return oids.map((oid) => {
    const end = bytes.indexOf(0x0a, at);
    const [, type = '', size = ''] = bytes.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type === 'missing') return null;
    const length = Number(size);
    const start = at;
    at += length + 1;
    if (end < 0 || !Number.isInteger(length) || at > bytes.length)
      throw new GitError(`The object ${oid} could not be read.`, 'Check the repository: git fsck');
    return { type: type as ObjectType, bytes: bytes.subarray(start, start + length) };
  });
}

async function head(git: RunGit, layout: Layout): Promise<Head> {
  const plain = await plainHead(layout);
  if (plain !== undefined) return plain;
  const symbolic = await git(['symbolic-ref', '--quiet', 'HEAD']);
  const ref = symbolic.stdout.toString('utf8').trim();
  if (symbolic.code === 0) return { kind: 'branch', ref, oid: await readRef(git, layout, ref) };
  const oid = (await output(git, ['rev-parse', '--verify', '--quiet', 'HEAD'])).toString('latin1').trim();
  return { kind: 'detached', oid };
}

async function readRef(git: RunGit, layout: Layout, ref: string): Promise<Oid | null> {
  const plain = await plainRef(layout, ref);
  return plain === undefined ? ((await listRefs(git, ref)).get(ref) ?? null) : plain;
}

/** A damaged ref is only warned of by the program, and would else pass for an absent one. */
async function listRefs(git: RunGit, prefix: string): Promise<ReadonlyMap<string, Oid>> {
  const pattern = prefix.replace(/\/$/, '');
  const { code, stdout, stderr } = await git(['for-each-ref', '--format=%(objectname) %(refname)', pattern]);
  if (code !== 0 || /ignoring .{0,40}broken/.test(stderr))
    throw explain(`The refs below ${prefix} cannot be read`, new Error(stderr));
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const space = line.indexOf(' ');
      return [line.slice(space + 1), line.slice(0, space)];
    }),
  );
}

async function swapRef(
  git: RunGit,
  layout: Layout,
  ref: string,
  expected: Oid | null,
  next: Oid | null,
): Promise<void> {
  const none = '0'.repeat(layout.format === 'sha1' ? 40 : 64);
  const change = next === null ? ['-d', ref, expected ?? none] : [ref, next, expected ?? none];
  const { code, stderr } = await git(['update-ref', '-m', 'commit-to-memory', ...change]);
  if (code === 0) return;
  const actual = await readRef(git, layout, ref);
  if (actual !== expected) throw new RefMovedError(ref, expected, actual);
  const lock = /'([^'\n]{1,4096}\.lock)': File exists/.exec(stderr)?.[1];
  if (lock !== undefined) throw lockError(lock, null);
  throw new Error(stderr);
}

async function remotes(git: RunGit): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await git(['config', '-z', '--get-regexp', String.raw`^remote\..*\.url$`]);
  const urls = new Map<string, string>();
  for (const field of fieldsOf(stdout)) {
    const [key = '', url = ''] = Buffer.from(field, 'latin1').toString('utf8').split('\n');
    const name = key.slice('remote.'.length, -'.url'.length);
    urls.set(name, url);
  }
  return urls;
}

async function revisions(git: RunGit, args: readonly string[]): Promise<readonly Oid[]> {
  return (await output(git, ['rev-list', '--first-parent', ...args, '--']))
    .toString('latin1')
    .split('\n')
    .filter(Boolean);
}
