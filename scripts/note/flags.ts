import type { CommandSpec } from '../shared/flags.ts';

/** The agents whose own memories can be brought in. */
export const importable = ['codex', 'claude-code'] as const;

export type Importable = (typeof importable)[number];

export const noteSpec: CommandSpec = {
  name: 'note',
  purpose:
    'Keeps something to be remembered: it waits on this machine, travels with the sessions and is reviewed like all else.',
  flags: {
    repository: {
      kind: 'value',
      value: '<host/owner/name>|*',
      help: 'whose memory it is for; * is for all (default: the repository of --cwd)',
    },
    cwd: { kind: 'value', value: '<dir>', help: 'the folder that it is about (default: where npm was called)' },
    agent: { kind: 'switch', help: 'it is an agent’s word, not a person’s; needed where nobody sits at a terminal' },
    import: {
      kind: 'value',
      oneOf: importable,
      help: 'bring in what that agent’s own memory holds of included repositories, after showing it',
    },
    from: {
      kind: 'value',
      value: '<dir>',
      help: 'with --import: where that memory is (default: the agent’s own folder)',
    },
    yes: { kind: 'switch', help: 'with --import: bring it in without asking' },
    list: { kind: 'switch', help: 'show what waits on this machine' },
    'dry-run': { kind: 'switch', help: 'show what would be kept, and what would be taken out of it; keep nothing' },
    repo: { kind: 'value', value: '<dir>', help: 'the clone of the memory repository (default: this one)' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: ['<text>'],
  examples: [
    'npm run note -- "The staging database is reset every Monday."',
    'npm run note -- --repository "*" "Ask before you push to main."',
    'npm run note -- --list',
    'npm run note -- --import claude-code --dry-run',
  ],
};
