import type { CommandSpec } from '../shared/flags.ts';

export const nightlySpec: CommandSpec = {
  name: 'nightly',
  purpose: 'One night: reads sessions, extracts what they taught, consolidates it per repository and commits it.',
  flags: {
    source: {
      kind: 'list',
      value: '<agent>:<folder>',
      help: 'read this folder instead of the configured sources; its sessions count as included',
    },
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    model: { kind: 'value', oneOf: ['builtin', 'openai'], help: 'instead of model.provider' },
    delivery: {
      kind: 'value',
      oneOf: ['commit'],
      help: 'how the result is delivered: committed to the branch that is checked out',
    },
    now: { kind: 'switch', help: 'ignore idle time, backoff and cooldown' },
    since: { kind: 'value', value: '<date|all>', help: 'ignore the age limit and read what is at least as new' },
    'dry-run': { kind: 'switch', help: 'say what would be read, sent and skipped, and why; send and write nothing' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run nightly',
    'npm run nightly -- --dry-run',
    'npm run nightly -- --now --since all --source codex:~/.codex/sessions --model builtin',
  ],
};
