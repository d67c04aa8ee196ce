import type { Edit } from './edit.ts';
import { ownFile } from './own-file.ts';

/**
 * OpenCode has no hooks that are commands, but plugins: this one runs the pinned program once a session and adds what
 * it says to the system text.
 * @param words the program and its arguments, each as it is: no shell reads them.
 */
export function openCodePlugin(path: string, words: readonly string[]): Edit {
  return ownFile(path, textOf(words), sign, (text) => {
    const line = /^const command = (\[.*\]);$/m.exec(text)?.[1];
    return line !== undefined && text === template.replace(place, () => line);
  });
}

const sign = '// commit-to-memory: ';
const place = '__COMMAND__';

function textOf(words: readonly string[]): string {
  return template.replace(place, () => JSON.stringify(words));
}

const template = `${sign}the team's memory for new sessions. Written by npm run connect -- opencode; --remove removes it.
import { spawn } from 'node:child_process';

const command = ${place};
const patienceMs = 15_000;

export const CommitToMemory = async ({ directory }) => {
  const known = new Map();
  return {
    'experimental.chat.system.transform': async (input, output) => {
      const id = typeof input?.sessionID === 'string' ? input.sessionID : '';
      if (!known.has(id)) known.set(id, recall(id, directory));
      const text = await known.get(id);
      if (text !== '') output.system.push(text);
    },
  };
};

/** What the session should know; an empty text whenever something is wrong, as no session may fail for it. */
function recall(id, cwd) {
  return new Promise((done) => {
    const [program, ...args] = command;
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: patienceMs });
    const chunks = [];
    child.on('error', () => done(''));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.on('close', () => done(textIn(Buffer.concat(chunks).toString('utf8'))));
    child.stdin.end(JSON.stringify({ session_id: id, cwd, hook_event_name: 'SessionStart', source: 'startup' }));
  });
}

function textIn(answer) {
  try {
    const value = JSON.parse(answer);
    const text = value?.hookSpecificOutput?.additionalContext ?? value?.additionalContext;
    return typeof text === 'string' ? text : '';
  } catch {
    return '';
  }
}
`;
