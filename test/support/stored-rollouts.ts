import type { Item, Rollout, Thread } from '../../scripts/rollout/types.ts';
import { sha256 } from '../../scripts/shared/thread-id.ts';
import { threadId } from './written-sessions.ts';

/** 2026-11-20T00:00:00Z and days after it, in seconds. */
export function dayAt(n: number): number {
  return 1_795_132_800 + n * 86_400;
}

/** A canonical rollout of the n-th thread: the person's words, one item each, a second apart. */
export function aRollout(
  n: number,
  words: readonly string[] = ['Fix the build.'],
  over: Partial<Thread> = {},
): Rollout {
  const startedAt = over.startedAt ?? dayAt(1);
  const items = words.map((text, at): Item => {
    const who = at % 2 === 0 ? 'human' : 'assistant';
    return { n: String(at + 2), at: startedAt + at, who, kind: 'text', text, src: { line: at + 2 } };
  });
  const text = words.join('\n');
  return {
    thread: {
      id: threadId(n),
      agent: 'codex',
      origin: 'cli',
      kind: 'root',
      repo: 'git.example.test/acme/app',
      aliases: [],
      cwd: '.',
      branch: 'main',
      commit: null,
      author: 'dana',
      title: words[0] ?? '',
      startedAt,
      updatedAt: startedAt + words.length,
      ...over,
    },
    source: { agent: 'codex', lines: words.length + 1, bytes: Buffer.byteLength(text), sha256: sha256(text) },
    skipped: {},
    redaction: {},
    items,
  };
}
