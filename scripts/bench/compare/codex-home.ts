import { cp, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { byBinary } from '../../shared/files.ts';

/** Codex reads what rested for an hour at least. */
const restedSeconds = 21_600;

/**
 * Copies sessions into a folder as Codex lays them out, `<yyyy>/<mm>/<dd>/rollout-….jsonl`. Codex reads sessions that
 * were typed: so these say that they were.
 * @param now seconds
 */
export async function writeCodexSessions(folder: string, from: readonly string[], now: number): Promise<void> {
  for (const source of from) {
    const entries = await readdir(source, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile() && rolloutName.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
    for (const path of paths.sort(byBinary)) {
      const [, year = '', month = '', day = ''] = rolloutName.exec(basename(path)) ?? [];
      await mkdir(join(folder, year, month, day), { recursive: true });
      const copy = join(folder, year, month, day, basename(path));
      await writeFile(copy, typed(await readFile(path, 'utf8')));
      await utimes(copy, now - restedSeconds, now - restedSeconds);
    }
  }
}

/** @param sessions as `writeCodexSessions` left them */
export async function writeCodexHome(home: string, sessions: string, baseUrl: string): Promise<void> {
  // That this folder is there makes Codex extract raw memories, as we do, instead of summaries alone.
  await mkdir(join(home, 'memories'), { recursive: true });
  await mkdir(join(home, 'work'), { recursive: true });
  await writeFile(join(home, 'config.toml'), configFor(baseUrl));
  await cp(sessions, join(home, 'sessions'), { recursive: true, preserveTimestamps: true });
}

/** The first line with its origin changed, if it was `codex exec`. */
export function typed(text: string): string {
  const end = text.indexOf('\n');
  const head = end === -1 ? text : text.slice(0, end);
  return head.replace('"source":"exec"', '"source":"cli"') + text.slice(head.length);
}

const rolloutName = /^rollout-(\d{4})-(\d\d)-(\d\d)T.*\.jsonl$/;

/** Everything may be read and selected at once, and only the bench's server is asked. */
function configFor(baseUrl: string): string {
  return `model = "bench"
model_provider = "bench"
check_for_update_on_startup = false

[model_providers.bench]
name = "bench"
base_url = ${JSON.stringify(baseUrl)}
wire_api = "responses"

[features]
memories = true

[memories]
version = "v1"
extract_model = "bench"
consolidation_model = "bench"
max_rollouts_per_startup = 128
min_rollout_idle_hours = 1
max_rollout_age_days = 90
max_unused_days = 365
max_raw_memories_for_consolidation = 4096

[analytics]
enabled = false
`;
}
