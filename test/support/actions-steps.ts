import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Action, type Runner, type Trigger, token } from './actions.ts';
import { root } from './nights.ts';
import { git } from './repository.ts';

/** A runner that knows the actions which our workflows use. @param origin URL or folder of the repository. */
export function aRunner(folder: string, origin: string, trigger: Trigger, env: Runner['env'] = {}): Runner {
  const artifacts = join(folder, 'artifacts');
  mkdirSync(artifacts);
  return {
    folder,
    actions: {
      'actions/checkout': checkout(origin, trigger),
      'actions/setup-node': async () => undefined,
      'actions/upload-artifact': upload(artifacts),
      'actions/download-artifact': download(artifacts),
    },
    instead: { 'npm ci': install },
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    },
  };
}

/** What is left in the run's artifacts, by name. */
export function artifactsIn(folder: string): Readonly<Record<string, readonly string[]>> {
  const artifacts = join(folder, 'artifacts');
  return Object.fromEntries(readdirSync(artifacts).map((name) => [name, filesBelow(join(artifacts, name))]));
}

function checkout(origin: string, trigger: Trigger): Action {
  return async (inputs, workspace) => {
    const ref = inputs.ref || trigger.sha;
    git(workspace, 'init', '--quiet', '--initial-branch=none');
    git(workspace, 'remote', 'add', 'origin', origin);
    const depth = inputs['fetch-depth'] === '0' ? ['+refs/heads/*:refs/remotes/origin/*'] : ['--depth=1'];
    git(workspace, 'fetch', '--quiet', '--no-tags', 'origin', ...depth, ref);
    git(workspace, 'checkout', '--quiet', '--force', '--detach', ref);
    if (inputs['persist-credentials'] !== 'false') git(workspace, 'config', 'http.extraheader', `basic ${token}`);
    return undefined;
  };
}

/** Stands for `npm ci`: the packages that are here. */
function install(workspace: string): void {
  symlinkSync(join(root, 'node_modules'), join(workspace, 'node_modules'));
}

/** Version 4 and newer: an artifact is never added to, and hidden files stay behind unless asked for. */
function upload(artifacts: string): Action {
  return async (inputs, workspace) => {
    const { name = 'artifact', path = '' } = inputs;
    const paths = path.split('\n').map((line) => line.trim());
    const found = paths.filter((one) => one !== '' && existsSync(join(workspace, one)));
    const hidden = paths.some((one) => one.split('/').some((part) => part.startsWith('.')));
    if (found.length === 0 || (hidden && inputs['include-hidden-files'] !== 'true')) {
      if (inputs['if-no-files-found'] === 'error') throw new Error(`No files were found with the path ${path}.`);
      return undefined;
    }
    const target = join(artifacts, name);
    if (existsSync(target) && inputs.overwrite !== 'true') throw new Error(`An artifact ${name} exists already.`);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
    for (const one of found) {
      const from = join(workspace, one);
      cpSync(from, statSync(from).isDirectory() ? target : join(target, basename(one)), { recursive: true });
    }
    return { 'artifact-id': '1' };
  };
}

/** By name it has to be there; by pattern there may be none. Another run's are in `run-<id>` beside this one's. */
function download(artifacts: string): Action {
  return async ({ name, pattern = '', path = '.', 'merge-multiple': flat, 'run-id': run }, workspace) => {
    const store = run === undefined ? artifacts : join(dirname(artifacts), `run-${run}`);
    const there = existsSync(store) ? readdirSync(store).sort() : [];
    if (name !== undefined && !there.includes(name)) throw new Error(`There is no artifact ${name}.`);
    const isMeant = (one: string) =>
      pattern.endsWith('*') ? one.startsWith(pattern.slice(0, -1)) : one === (name ?? pattern);
    for (const one of there.filter(isMeant)) {
      const into = name !== undefined || flat === 'true' ? '' : one;
      cpSync(join(store, one), join(workspace, path, into), { recursive: true });
    }
    return undefined;
  };
}

/** Paths relative to a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((file) => `${entry.name}/${file}`) : [entry.name],
    )
    .sort();
}
