import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Open, startBrowser } from '../support/browser.ts';
import { someDistractors } from '../support/distractors.ts';
import { aReport, urlOf } from '../support/report-page.ts';

const memories = 2_000;
let open: Open;
let close: () => Promise<void>;
let path: string;

before(async () => {
  ({ open, close } = await startBrowser());
  const { lines } = someDistractors(memories * 2, [], ['git.example.test/acme/shop']);
  const some = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => lines[(from + at) % lines.length] ?? '');
  path = await aReport({
    nights: 400,
    taught: Array.from({ length: memories }, (_, n) => ({
      repo: 'git.example.test/acme/shop',
      topic: `Topic ${Math.floor(n / 6)}`,
      title: some(n * 4 + 1, 1).join(''),
      line: `${n}: ${some(n * 4, 1).join('')}`,
      words: [some(n * 7, 6).join(' '), some(n * 11, 6).join(' ')],
      summary: some(n * 5, 15).join('\n'),
    })),
  });
});

after(() => close());

test('the report of 2,000 memories is smaller than 3 MB', (t) => {
  const { size } = statSync(path);
  t.diagnostic(`${size} bytes`);
  assert.ok(size < 3_000_000, `${size}`);
});

test('it opens in less than a second, of five times the middle one, and its lines too', async (t) => {
  const opened: number[] = [];
  const unfolded: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    const { page } = await open(urlOf(path));
    opened.push(Number(await page.evaluate('performance.getEntriesByType("navigation")[0].loadEventEnd')));
    unfolded.push(
      Number(
        await page.evaluate(`(async () => {
          const start = performance.now();
          document.querySelector('.repository > summary').click();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return performance.now() - start;
        })()`),
      ),
    );
    assert.equal(await page.locator('.line').count(), memories);
  }
  t.diagnostic(
    `opened in ${opened.map(Math.round)} ms, a repository of ${memories} lines in ${unfolded.map(Math.round)} ms`,
  );
  assert.ok(middle(opened) < 1_000, `${opened}`);
});

test('its search and the words of its last line come without waiting for all of them', async () => {
  const { page, noise } = await open(urlOf(path));
  await page.getByRole('searchbox').fill(`${memories - 1}:`);
  await page.locator('#results a').first().click();
  await page.locator('.line[open] blockquote').waitFor();
  assert.deepEqual(noise, []);
});

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.POSITIVE_INFINITY;
}
