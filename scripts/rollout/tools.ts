import type { Does } from './types.ts';

const byName: Readonly<Record<string, Does>> = {
  // Claude Code
  Bash: 'shell',
  BashOutput: 'shell',
  KillShell: 'shell',
  PowerShell: 'shell',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Read: 'read',
  LS: 'read',
  NotebookRead: 'read',
  Grep: 'search',
  Glob: 'search',
  ToolSearch: 'search',
  WebFetch: 'web',
  WebSearch: 'web',
  Task: 'agent',
  Agent: 'agent',
  SendMessage: 'agent',
  // Codex
  exec_command: 'shell',
  write_stdin: 'shell',
  shell: 'shell',
  shell_command: 'shell',
  local_shell: 'shell',
  'container.exec': 'shell',
  unified_exec: 'shell',
  apply_patch: 'edit',
  read_file: 'read',
  list_dir: 'read',
  view_image: 'read',
  grep_files: 'search',
  tool_search: 'search',
  web_search: 'web',
  spawn_agent: 'agent',
  send_input: 'agent',
  send_message: 'agent',
  wait_agent: 'agent',
  close_agent: 'agent',
  read_mcp_resource: 'mcp',
  // Copilot CLI, OpenCode and pi
  bash: 'shell',
  powershell: 'shell',
  write_bash: 'shell',
  read_bash: 'shell',
  stop_bash: 'shell',
  write_powershell: 'shell',
  read_powershell: 'shell',
  stop_powershell: 'shell',
  user_shell: 'shell',
  edit: 'edit',
  create: 'edit',
  write: 'edit',
  patch: 'edit',
  multiedit: 'edit',
  str_replace_editor: 'edit',
  view: 'read',
  read: 'read',
  list: 'read',
  ls: 'read',
  grep: 'search',
  glob: 'search',
  find: 'search',
  codesearch: 'search',
  webfetch: 'web',
  websearch: 'web',
  task: 'agent',
  read_agent: 'agent',
  // Gemini CLI; `web_fetch` is Copilot's as well
  run_shell_command: 'shell',
  replace: 'edit',
  write_file: 'edit',
  read_many_files: 'read',
  list_directory: 'read',
  grep_search: 'search',
  search_file_content: 'search',
  web_fetch: 'web',
  google_web_search: 'web',
  invoke_agent: 'agent',
  list_mcp_resources: 'mcp',
};

/** What a tool does by the name that the agent gives it; servers' tools are `mcp__server__tool` or `server__tool`. */
export function doesOf(tool: string): Does {
  if (Object.hasOwn(byName, tool)) return byName[tool] ?? 'other';
  return tool.includes('__') ? 'mcp' : 'other';
}

/** The files that a patch names, in its order. */
export function patchedFiles(patch: string): string[] {
  const named = patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n\r]{1,1000})/gm);
  return [...new Set([...named].map((match) => (match[1] ?? '').trim()))];
}

/** An argument list as one command line: what a shell was given, else the words, quoted where they need it. */
export function commandLine(argv: readonly unknown[]): string {
  const words = argv.filter((word): word is string => typeof word === 'string');
  const [program = '', option = '', script] = words;
  if (
    words.length === 3 &&
    script !== undefined &&
    /(?:^|[\\/])(?:ba|z|da|k)?sh$/.test(program) &&
    /^-l?c$/.test(option)
  )
    return script;
  if (/(?:^|[\\/])(?:powershell|pwsh)(?:\.exe)?$/i.test(program) && script !== undefined) return words.at(-1) ?? '';
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
