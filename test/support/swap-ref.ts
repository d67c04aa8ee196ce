/** A process of its own that moves a ref and says how it went: `swap-ref.ts <dir> <backend> <ref> <expected> <next>`. */
import { openRepository } from '../../scripts/git/open.ts';

const [dir = '', backend = '', ref = '', expected = '', next = ''] = process.argv.slice(2);
const repository = await openRepository(dir, {
  backend: backend === 'git' ? 'git' : 'isomorphic',
  env: { PATH: process.env.PATH },
});
try {
  await repository.swapRef(ref, expected, next);
  process.stdout.write('won');
} catch (error) {
  process.stdout.write(error instanceof Error ? error.name : 'unknown');
}
