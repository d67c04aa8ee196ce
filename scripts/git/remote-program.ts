import type { Ran } from './child.ts';
import type { Layout } from './layout.ts';
import { type Environment, gitProgram, type RunGit } from './program.ts';
import { unreachableError } from './remote-failures.ts';
import { newBase, type Service } from './remote-http.ts';
import { networkVariables } from './remote-program-env.ts';
import { failureOf, isRace, isRedirect, refusalIn, remoteLines } from './remote-program-words.ts';
import { FetchRaceError, type Transport } from './remote-transport.ts';
import { trackingRef } from './remote-types.ts';
import type { Address } from './remote-url.ts';
import type { Credentials } from './remote-words.ts';

/** Where a remote is read or written, and who asks. */
export interface Endpoint {
  readonly address: Address;
  readonly credentials: Credentials;
}

export interface ProgramRemote {
  readonly layout: Layout;
  readonly env: Environment;
  readonly fetchFrom: Endpoint;
  readonly pushTo: Endpoint;
  readonly stallSeconds: number;
  /** Whether ssh is to be started so that it never asks; false where the user says how it is started. */
  readonly quietSsh: boolean;
}

/** Where a person says how ssh is started, that stands; else it is started so that it cannot stop to ask. */
export async function mayQuietSsh(git: RunGit, env: Environment): Promise<boolean> {
  if (env.GIT_SSH_COMMAND !== undefined || env.GIT_SSH !== undefined) return false;
  return (await git(['config', '--get', 'core.sshCommand'])).code !== 0;
}

/** A remote through the installed git program, with whatever it can speak. */
export function programTransport(remote: ProgramRemote): Transport {
  const read = connection(remote, remote.fetchFrom, 'git-upload-pack');
  const write = connection(remote, remote.pushTo, 'git-receive-pack');
  return {
    name: 'git',
    refs: async (_, signal) => {
      const listed = await listing((url) => [...atOnce, 'ls-remote', '--refs', '--quiet', url], signal);
      return new Map(listed.map(([oid = '', ref = '']) => [ref, oid]));
    },
    head: async (signal) => {
      const lines = await listing((url) => ['ls-remote', '--symref', '--quiet', url, 'HEAD'], signal);
      const values = lines.flatMap(([value = '', ref]) => (ref === 'HEAD' ? [value] : []));
      const oid = values.find((value) => !value.startsWith('ref: '));
      const target = values.find((value) => value.startsWith('ref: '))?.slice('ref: '.length) ?? null;
      return oid === undefined ? null : { oid, target };
    },
    fetch: async (refs, depth, signal) => {
      const limit = depth === null ? [] : [`--depth=${depth}`];
      const specs = refs.map(({ ref }) => `+${ref}:${trackingRef(ref)}`);
      const ran = await read((url) => ['fetch', ...fetchOptions, ...limit, url, ...specs], signal);
      if (ran.code !== 0 && isRace(ran.stderr))
        throw new FetchRaceError(remote.fetchFrom.credentials.words(ran.stderr));
      done(remote.fetchFrom, ran);
    },
    push: async ({ ref, expected, next }, signal) => {
      const lease = `--force-with-lease=${ref}:${expected ?? ''}`;
      const ran = await write((url) => ['push', ...pushOptions, lease, url, `${next ?? ''}:${ref}`], signal);
      const words = remote.pushTo.credentials.words;
      const refusal = refusalIn(ran.stdout.toString('utf8'), ref, remoteLines(ran.stderr), words);
      if (refusal === null) done(remote.pushTo, ran);
      return refusal;
    },
  };

  /** A page for people can pass for a server without refs, of the kind that only serves files. */
  async function listing(args: Arguments, signal: AbortSignal | undefined): Promise<string[][]> {
    const lines = linesOf(done(remote.fetchFrom, await read(args, signal)));
    const { address } = remote.fetchFrom;
    if (lines.length > 0 || address.kind !== 'http') return lines;
    const traced = await read(args, signal, { GIT_TRACE_PACKET: '1' });
    const again = linesOf(done(remote.fetchFrom, traced));
    if (again.length > 0 || /< (?:# service=git-upload-pack|version [12])$/m.test(traced.stderr)) return again;
    throw unreachableError(address.shown, "it does not speak Git's smart protocol");
  }
}

/** The first protocol names all refs in its first answer; the second is asked for them in a request of its own. */
const atOnce: readonly string[] = ['-c', 'protocol.version=0'];

/** What a user's configuration may have changed is said in full. */
const fetchOptions: readonly string[] = [
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-prune',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
  '--refmap=',
  '--force',
];

const pushOptions: readonly string[] = [
  '--porcelain',
  '--no-verify',
  '--no-follow-tags',
  '--no-signed',
  '--no-force-if-includes',
  '--recurse-submodules=no',
  '--thin',
];

type Arguments = (url: string) => readonly string[];
type Run = (args: Arguments, signal: AbortSignal | undefined, more?: Record<string, string>) => Promise<Ran>;

/** Runs a command against an address; where a token is sent, it goes on to a new address of the same server only. */
function connection(remote: ProgramRemote, { address, credentials }: Endpoint, service: Service): Run {
  const { layout, env } = remote;
  let current = address;
  const run: Run = async (args, signal, more) => {
    const variables = networkVariables(env, current, credentials.authorization, remote);
    const ran = await gitProgram(layout, env, { ...variables, ...more })(args(current.argument), '', signal);
    return ran.stderr.length <= 65_536
      ? ran
      : { ...ran, stderr: ran.stderr.slice(0, 32_768) + ran.stderr.slice(-32_768) };
  };
  return async (args, signal, more) => {
    const ran = await run(args, signal, more);
    if (ran.code === 0 || credentials.authorization === null || !isRedirect(ran.stderr)) return ran;
    const settings = { credentials, env, stallSeconds: remote.stallSeconds };
    const moved = await newBase(current.shown, service, settings, signal);
    current = { ...current, shown: moved, argument: moved };
    return run(args, signal, more);
  };
}

function done({ address, credentials }: Endpoint, ran: Ran): Buffer {
  if (ran.code === 0) return ran.stdout;
  throw failureOf(address.shown, ran.stderr, credentials.words(ran.stderr));
}

function linesOf(bytes: Buffer): string[][] {
  const lines = bytes.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => line.split('\t'));
}
