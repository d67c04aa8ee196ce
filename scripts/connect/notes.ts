import type { Connected } from './flags.ts';
import type { MemoryPlace } from './setup.ts';
import type { Where } from './targets.ts';

/** What a person should know about a connection, or do next. @param text the agent's settings as they are now. */
export function notesFor(
  agent: Connected,
  where: Where,
  { clone, consented }: MemoryPlace,
  text: string,
): readonly string[] {
  const notes: string[] = [];
  if (agent === 'agents-md') {
    return [
      'This is the memory as it is today; the same command brings it up to date.',
      'Agents with a hook of ours get it twice if they also read this file.',
    ];
  }
  if (agent === 'codex')
    notes.push(
      `Codex runs a hook only once you trusted it: start codex, then /hooks.${where.scope === 'user' ? '' : ' A project’s hooks run only where the project is trusted.'}`,
    );
  if (agent === 'copilot' && where.scope !== 'user')
    notes.push('Copilot runs a project’s hooks only in a folder that you trusted.');
  if (where.scope === 'project')
    notes.push(
      `The file names folders of this machine: leave it out of commits${agent === 'claude-code' ? ', or use --scope local' : ''}.`,
    );
  if (/"disableAllHooks"\s*:\s*true/.test(text)) notes.push('Hooks are off in this file: disableAllHooks is true.');
  if (/"hooksConfig"\s*:\s*\{[^}]*"enabled"\s*:\s*false/.test(text))
    notes.push('Hooks are off in this file: hooksConfig.enabled is false.');
  if (/^\s*(?:codex_)?hooks\s*=\s*false/m.test(text))
    notes.push('Hooks are off in config.toml: features.hooks is false.');
  if (text.includes('scripts/collect/hook.mjs'))
    notes.push('A hook that you wrote yourself announces sessions too; once is enough, so take it out.');
  if (agent === 'opencode')
    notes.push('No hook announces OpenCode’s sessions: export them, and a timer collects them (README).');
  else if (clone === null)
    notes.push('Sessions are collected from a clone only: connect with --memory <folder> for that.');
  else if (!consented)
    notes.push('This laptop sends no sessions. To allow it: npm run collect -- --init, then the same command again.');
  return notes;
}
