import { join } from 'node:path';
import { parseGitConfig } from './config-text.ts';
import { findRepository, type Layout, textOrNull } from './layout.ts';
import { type Environment, gitProgram, isMissingProgram } from './program.ts';

/**
 * `user.email` as Git's settings have it in this repository; null where nobody set one. Without the git program the
 * files alone are read: the repository's, then the user's (what those include is not).
 */
export async function userEmail(dir: string, home: string, env: Environment): Promise<string | null> {
  const layout = await findRepository(dir);
  try {
    const { code, stdout } = await gitProgram(layout, env)(['config', '--get', 'user.email']);
    return code === 0 ? stdout.toString('utf8').trim() || null : null;
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    return emailInFiles(layout, home, env);
  }
}

async function emailInFiles({ config }: Layout, home: string, env: Environment): Promise<string | null> {
  const user = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'git', 'config');
  return config.get('user.email') || (await emailIn(join(home, '.gitconfig'))) || (await emailIn(user));
}

async function emailIn(path: string): Promise<string | null> {
  return parseGitConfig((await textOrNull(path)) ?? '').get('user.email') || null;
}
