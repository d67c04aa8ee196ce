import type { CommandSpec, Flag } from '../shared/flags.ts';

const source: Flag = {
  kind: 'list',
  value: '<agent>:<folder>',
  help: 'read this folder instead of the configured sources; its sessions count as included',
};
const repo: Flag = { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' };
const model: Flag = { kind: 'value', oneOf: ['builtin', 'openai'], help: 'instead of model.provider' };
const delivery: Flag = {
  kind: 'value',
  oneOf: ['commit'],
  help: 'how the result is delivered: committed to the branch that is checked out',
};
const anyDelivery: Flag = {
  kind: 'value',
  oneOf: ['commit', 'push', 'pull-request'],
  help: 'instead of delivery.mode: committed here, pushed to the default branch, or proposed for review',
};
const since: Flag = {
  kind: 'value',
  value: '<date|all>',
  help: 'ignore the age limit and read what is at least as new',
};
const dryRun: Flag = {
  kind: 'switch',
  help: 'say what would be read, sent and skipped, and why; send and write nothing',
};
const json: Flag = { kind: 'switch', help: 'one JSON object on standard output' };

export const nightlySpec: CommandSpec = {
  name: 'nightly',
  purpose: 'One night: reads sessions, extracts what they taught, consolidates it per repository and commits it.',
  flags: {
    source,
    repo,
    model,
    delivery: anyDelivery,
    now: { kind: 'switch', help: 'ignore idle time, backoff and cooldown' },
    since,
    stage: {
      kind: 'value',
      oneOf: ['claim', 'remember', 'propose'],
      help: 'one part of a night, as the jobs of a workflow play it; the later two are told by the first',
    },
    shards: {
      kind: 'value',
      value: '<n>',
      help: 'with --stage claim: into how many parts the sessions are split, which jobs of the workflow read at once',
    },
    journal: {
      kind: 'list',
      value: '<dir>',
      help: 'take over what shards of this night paid for: the journal of one, or a folder of several',
    },
    'dry-run': dryRun,
    json,
  },
  positionals: [],
  examples: [
    'npm run nightly',
    'npm run nightly -- --dry-run',
    'npm run nightly -- --delivery pull-request',
    'npm run nightly -- --journal .git/memory/shards',
    'npm run nightly -- --now --since all --source codex:~/.codex/sessions --model builtin',
  ],
};

export const phase1Spec: CommandSpec = {
  name: 'phase1',
  purpose: 'The first half of a night: reads sessions and keeps what each taught. No handbook is written.',
  flags: {
    source,
    repo,
    model,
    delivery,
    now: { kind: 'switch', help: 'ignore idle time and backoff' },
    since,
    shard: {
      kind: 'value',
      value: '<i/n>',
      help: 'ask the model for the i-th of n parts of the sessions alone, and keep its answers for the night: nothing is committed',
    },
    journal: {
      kind: 'value',
      value: '<dir>',
      help: 'with --shard: where its answers are kept (default: .git/memory/shards/)',
    },
    claimed: {
      kind: 'switch',
      help: 'with --shard: read what `nightly --stage claim` allowed, as a job of the workflow does',
    },
    'dry-run': dryRun,
    'cancel-batch': {
      kind: 'value',
      value: '<id>',
      help: 'tell the model’s server to give up this batch and do nothing else; the next night reads what it answered',
    },
    json,
  },
  positionals: [],
  examples: [
    'npm run phase1',
    'npm run phase1 -- --now --since all --source codex:~/.codex/sessions',
    'npm run phase1 -- --shard 2/5 --journal /mnt/night/2',
  ],
};

export const phase2Spec: CommandSpec = {
  name: 'phase2',
  purpose: 'The second half of a night: consolidates what sessions taught into memory files. No session is read.',
  flags: { repo, model, delivery, now: { kind: 'switch', help: 'ignore cooldown' }, json },
  positionals: [],
  examples: ['npm run phase2', 'npm run phase2 -- --now --model builtin'],
};
