/** A process of its own that commits 400 files over HEAD, again and again: `write-commit.ts <dir> <backend>`. */
import { openRepository } from '../../scripts/git/open.ts';

const [dir = '', backend = ''] = process.argv.slice(2);
const repository = await openRepository(dir, {
  backend: backend === 'git' ? 'git' : 'isomorphic',
  env: { PATH: process.env.PATH },
});
const { oid } = await repository.head();
if (oid === null) throw new Error('there is no commit to start from');
for (let round = 1; round <= 3; round += 1) {
  const changes = new Map(
    Array.from({ length: 400 }, (_, at) => [`memories/${at}.md`, `${round} ${at} ${'x'.repeat(at)}`]),
  );
  const author = { name: 'M', email: 'm@example.org' };
  await repository.writeCommit({ base: oid, parents: [oid], changes, message: 'x', author, at: round });
}
