import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleRecall } from '../connect/bundle.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { joinBlocks, renderBlock } from '../workspace/handbook.ts';
import { formatReference } from '../workspace/reference.ts';
import { started } from './started.ts';
import { median } from './statistics.ts';
import { type Measure, megabyte } from './types.ts';

const rounds = 50;
/** Of the memory, with equal shares. */
const repositories = 8;

export const recallMeasure: Measure = {
  name: 'recall',
  what: 'what a session waits for at its start with 1 MB of memory: 95 of 100 hooks take at most so much more than the middle `node -e 0`',
  unit: 'ms',
  limit: { on: 'value', bound: 'at most', than: 60 },
  async take({ world, folder }) {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const hook = join(folder, 'recall.cjs');
    await writeFile(hook, await bundleRecall(root));
    await writeMemory(join(folder, 'memory', 'memories'));
    await writeCheckout(join(folder, 'checkout'));
    const payload = JSON.stringify({ session_id: 's', cwd: join(folder, 'checkout'), hook_event_name: 'SessionStart' });
    const args = [hook, '--agent', 'codex', '--memory', join(folder, 'memory')];
    const [hooks, nodes]: [number[], number[]] = [[], []];
    let answered = 0;
    for (let round = -1; round < rounds; round += 1) {
      const bare = await started(world, ['-e', '0']);
      const asked = await started(world, args, payload);
      if (round < 0) continue;
      nodes.push(bare.ms);
      hooks.push(asked.ms);
      if (asked.stdout.includes('wish 0 of it')) answered += 1;
    }
    return {
      value: percentile(hooks, 0.95) - median(nodes),
      calibration: null,
      note: `node alone ${median(nodes).toFixed(0)} ms in the middle and ${percentile(nodes, 0.95).toFixed(0)} ms for 95 of 100, the hook ${median(hooks).toFixed(0)} and ${percentile(hooks, 0.95).toFixed(0)} ms`,
      faults: answered === rounds ? [] : [`${rounds - answered} of ${rounds} hooks gave no lines`],
    };
  },
};

async function writeMemory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const blocks: string[] = [];
  for (let bytes = 0, n = 0; bytes < megabyte; n += 1) {
    const block = blockOf(n);
    blocks.push(block);
    bytes += Buffer.byteLength(block) + 1;
  }
  await writeFile(join(folder, 'MEMORY.md'), joinBlocks('', blocks));
  const index = Array.from({ length: repositories }, (_, n) => `- ${repositoryOf(n)}: builds, tests`);
  await writeFile(
    join(folder, 'memory_summary.md'),
    `v1\n\n## User Profile\n\n## User preferences\n- Answer first, then explain\n\n## General Tips\n- Read the tests first\n\n## What's in Memory\n${index.join('\n')}\n`,
  );
}

function blockOf(n: number): string {
  const thread = `thread-${n}`;
  const evidence = `[${shortThreadId(thread)}@12,15]`;
  const bullet = (kind: string) => (_: unknown, at: number) =>
    `When the build of part ${n} fails, ${kind} ${at} of it: “run the migration first, then \`make check\`” ${evidence}`;
  const header = { cwd: '.', rollout_path: `2026/11/29/${thread}.jsonl`, updated_at: '2026-11-29T23:44:06Z' };
  return renderBlock({
    title: `Building part ${n}`,
    scopeLine: 'how it is built and tested',
    appliesTo: { repo: repositoryOf(n % repositories), cwd: '.', reuseRule: 'when building or testing it' },
    tasks: [
      {
        title: `build part ${n}, success`,
        references: [formatReference(`rollout_summaries/part-${n}.md`, { ...header, thread_id: thread })],
        keywords: ['build', 'tests', `part-${n}`],
      },
    ],
    bullets: {
      preferences: Array.from({ length: 4 }, bullet('wish')),
      knowledge: Array.from({ length: 4 }, bullet('lesson')),
      failures: Array.from({ length: 2 }, bullet('trap')),
    },
  });
}

function repositoryOf(n: number): string {
  return `host.example/team/app-${n}`;
}

async function writeCheckout(folder: string): Promise<void> {
  await mkdir(join(folder, '.git'), { recursive: true });
  await writeFile(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(folder, '.git', 'config'), `[remote "origin"]\n\turl = git@host.example:team/app-0.git\n`);
}

/** The smallest value that is not below so much of the others. */
function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
