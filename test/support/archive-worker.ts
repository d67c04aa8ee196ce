/**
 * A process of its own that works on a rollouts ref: `archive-worker.ts <dir> <action> <argument> [<remote>]`.
 * `add 3,17`: the sessions of these numbers, one commit each. `drop <id>,<id>`: writes the ref anew without each, one
 * after the other, where it is old.
 */
import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { rewriteArchive } from '../../scripts/archive/rewrite.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { aRollout, dayAt } from './stored-rollouts.ts';

const [dir = '', action = '', argument = '', url = ''] = process.argv.slice(2);
const env = { PATH: process.env.PATH };
const repository = await openRepository(dir, { env });
const remote = url === '' ? null : await openRemote(repository, { url, env });
const archive = { repository, ref: archiveRef, remote };
const clock = fixedClock(dayAt(5));
for (const word of argument.split(',')) {
  if (action === 'drop') {
    const rewrite = { threads: new Set([word]), notSince: dayAt(4) };
    process.stdout.write(`${(await rewriteArchive(archive, rewrite, { clock })).join(',')} `);
  } else {
    const n = Number(word);
    const outcomes = await addRollouts(archive, [aRollout(n, [`Task ${n}.`])], dayAt(0), { clock });
    process.stdout.write(`${[...outcomes.values()].join(',')} `);
  }
}
