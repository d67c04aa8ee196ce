/** A process of its own that pushes a ref and says how it went: `push-ref.ts <dir> <backend> <url> <ref> <expected> <text>`. */
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { commit } from './remotes.ts';

const [dir = '', name = '', url = '', ref = '', expected = '', text = ''] = process.argv.slice(2);
const env = { PATH: process.env.PATH };
const backend = name === 'git' ? 'git' : 'isomorphic';
const repository = await openRepository(dir, { backend, env });
const remote = await openRemote(repository, { url, env, backend });
const next = await commit(repository, text);
try {
  await remote.push([{ ref, expected: expected === '' ? null : expected, next }]);
  process.stdout.write(next);
} catch (error) {
  process.stdout.write(error instanceof Error ? error.name : 'unknown');
}
