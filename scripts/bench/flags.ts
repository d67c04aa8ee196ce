import type { Flag } from '../shared/flags.ts';

export const checkFlag: Flag = { kind: 'switch', help: 'exit with 1 when a limit is missed' };

export const jsonFlag: Flag = { kind: 'switch', help: 'one JSON object on standard output' };

export const corpusFlag: Flag = {
  kind: 'value',
  value: '<dir>',
  help: 'sessions, in folders named after their agents: codex, claude-code, …',
};
