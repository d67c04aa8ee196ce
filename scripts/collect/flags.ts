import type { CommandSpec } from '../shared/flags.ts';

/** The agents whose hooks announce a transcript; `hook.mjs` knows their payloads. */
export const hookAgents = ['claude-code', 'codex', 'copilot', 'gemini'] as const;

export const collectSpec: CommandSpec = {
  name: 'collect',
  purpose:
    'Sends this machine’s sessions, without secrets, to the team’s rollouts ref. Only what changed, only what you allowed.',
  flags: {
    init: { kind: 'switch', help: 'write what this laptop allows: explains, asks, and changes nothing else' },
    include: { kind: 'list', value: '<host/owner/name>', help: 'with --init: a repository whose sessions may be sent' },
    author: {
      kind: 'value',
      value: '<name>',
      help: 'with --init: what sessions call you (default: by git’s user.email)',
    },
    private: { kind: 'switch', help: 'with --init: you know that the memory repository is private' },
    'allow-public': { kind: 'switch', help: 'with --init: send even where everybody can read it' },
    yes: { kind: 'switch', help: 'with --init: take the flags as the answers and ask nothing' },
    repo: {
      kind: 'value',
      value: '<dir>',
      help: 'the clone of the memory repository (default: this one); with --init also its address',
    },
    'dry-run': { kind: 'switch', help: 'show what would leave this machine, per session; send and keep nothing' },
    show: { kind: 'value', value: '<thread>', help: 'print one session exactly as it would be sent' },
    export: {
      kind: 'value',
      oneOf: ['atif'],
      help: 'write the sessions that may be sent as ATIF v1.7, or the one of --show',
    },
    out: { kind: 'value', value: '<dir>', help: 'with --export: where to (default: ./atif)' },
    all: { kind: 'switch', help: 'look at every session anew, not only at new and grown ones' },
    spooled: { kind: 'switch', help: 'look only at what hooks announced' },
    hook: {
      kind: 'value',
      oneOf: hookAgents,
      help: 'take an agent’s hook from standard input and collect in the background',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run collect -- --init',
    'npm run collect -- --dry-run',
    'npm run collect',
    'npm run collect -- --show 5d2ce5b0-6d2d-4d1b-bd33-55c096097c25',
    'npm run collect -- --export atif --out /tmp/atif',
  ],
};
