import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm test [-- <part of a path> …]`: runs every test file by name (Node 20 finds no `.ts` by folder or glob) and fails
 * when fewer tests ran than the files hold, so that a file that registers nothing cannot pass. What takes long stands in
 * `test/slow/` and runs with `npm run test:slow`; what needs a browser in `test/browser/`, with `npm run test:browser`.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const wanted = process.argv.slice(2);
const apart = ['test/slow/', 'test/browser/'];
const files = testFiles(join(root, 'test'))
  .map((file) => relative(root, file))
  .filter((file) =>
    wanted.length === 0 ? !apart.some((folder) => file.includes(folder)) : wanted.some((part) => file.includes(part)),
  )
  .sort();
const least = files.reduce((sum, file) => sum + testsIn(readFileSync(join(root, file), 'utf8')), 0);

if (files.length === 0) {
  process.stderr.write(`No test file matches ${wanted.join(', ')}.\n`);
  process.exitCode = 1;
} else {
  const child = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-concurrency=2', ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let tail = '';
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    tail = (tail + chunk.toString('utf8')).slice(-4_000);
  });
  child.on('close', (code) => {
    const ran = Number(/^(?:ℹ|#) tests (\d+)$/m.exec(tail)?.[1] ?? 0);
    if (ran < least || ran === 0) {
      process.stderr.write(`Only ${ran} tests ran, but the ${files.length} files hold at least ${least}.\n`);
      process.exitCode = 1;
    } else {
      process.exitCode = code ?? 1;
    }
  });
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'fixtures' ? [] : testFiles(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

/** Tests at the left margin: those in loops may be many, so the count is a lower bound. */
function testsIn(text: string): number {
  return Math.max(1, [...text.matchAll(/^(?:test|it|describe)(?:\.\w+)?\(/gm)].length);
}
