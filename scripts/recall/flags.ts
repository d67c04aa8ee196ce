import type { CommandSpec } from '../shared/flags.ts';

export const recallSpec: CommandSpec = {
  name: 'recall',
  purpose: 'Prints what a session in this folder is given of the team’s memory.',
  flags: {
    memory: {
      kind: 'value',
      value: '<dir|address>',
      help: 'a clone of the memory repository, or its address (default: this clone)',
    },
    cwd: { kind: 'value', value: '<dir>', help: 'the session’s folder (default: where you are)' },
    refresh: { kind: 'switch', help: 'with an address: fetch it now and wait for it' },
    explain: { kind: 'switch', help: 'say what was left out and why, on standard error' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run recall -- --cwd ~/src/shop',
    'npm run recall -- --cwd ~/src/shop --explain',
    'npm run recall -- --memory git@github.com:acme/team-memory.git --refresh',
  ],
};
