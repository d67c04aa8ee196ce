import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Open, startBrowser } from '../support/browser.ts';
import { shortIdOf, type Taught } from '../support/report-memory.ts';
import { aReport, urlOf } from '../support/report-page.ts';

const shop = 'git.example.test/acme/shop';
const line = { repo: shop, topic: 'Builds', title: 'Make it build', words: [], summary: 'It builds.' } as const;
const taught: readonly Taught[] = [
  { ...line, line: 'Run `make check` before every push', words: ['Please run make check before you push.', 'I will.'] },
  { ...line, line: 'Das Lager heißt überall „Bestand“', title: 'Lager', words: ['Nenne es Bestand, nicht stock.'] },
  { ...line, line: '提交前先运行测试', title: '测试', topic: 'Tests', words: ['提交之前总是先运行测试。'] },
  { ...line, line: 'The queue drops messages over 64 KB', topic: 'Queue', words: ['It is lost.'], isExpired: true },
  {
    ...line,
    repo: 'git.example.test/acme/etl',
    line: 'Never retry a 401',
    words: ['A salt from the sea of forgotten words'],
    isForgotten: true,
  },
];

let open: Open;
let close: () => Promise<void>;
let url: string;

before(async () => {
  ({ open, close } = await startBrowser());
  url = urlOf(
    await aReport({
      taught,
      nights: 30,
      unread: 2,
      failures: ['HTTP 400: the request is too long'],
      files: { 'memories/memory_summary.md': 'v1\n\n## General Tips\n- Ask before you delete.\n' },
    }),
  );
});

after(() => close());

test('the page opens without a word on the console and asks for nothing', async () => {
  const { page, noise } = await open(url);
  await page.getByText('Run make check before every push').waitFor();
  await page.locator('.table summary').click();
  assert.deepEqual(noise, []);
  assert.deepEqual(await page.evaluate('performance.getEntriesByType("resource").length'), 0);
  assert.deepEqual(await page.locator('.figures .value').allTextContents(), ['5', '5', '2', '$0.22']);
});

test('the words of its session are two clicks from a line at most', async () => {
  const { page, noise } = await open(url);
  await page.getByText('Run make check before every push').click();
  const evidence = page.locator('.line[open] .evidence');
  assert.match((await evidence.locator('blockquote').textContent()) ?? '', /^Please run make check before you push\.$/);
  assert.match((await evidence.locator('.item-head').textContent()) ?? '', /^@2 · Person · \d+ Nov 2026, \d\d:\d\d$/);
  await evidence.getByRole('link', { name: 'Open the session' }).click();
  const dialog = page.getByRole('dialog', { name: 'Make it build' });
  await dialog.getByText('Please run make check before you push.').waitFor();
  await dialog.getByText('It builds.').waitFor();
  assert.deepEqual(noise, []);
});

test('where the rollout is gone the extract speaks, and what was forgotten says so and nothing else', async () => {
  const { page } = await open(url);
  await page.getByText('The queue drops messages over 64 KB').click();
  await page.getByText('The session itself was not at hand for this page. As it was extracted:').waitFor();
  await page.getByText('Never retry a 401').click();
  await page.getByText('Forgotten: a person took it out of the memory.').waitFor();
  assert.ok(!readFileSync(new URL(url), 'utf8').includes('sea of forgotten words'));
  const words = await page.evaluate(
    `(async () => new Response(new Blob([Uint8Array.from(atob(document.getElementById('words').textContent), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'))).text())()`,
  );
  assert.ok(String(words).includes('Please run make check') && !String(words).includes('sea of forgotten words'));
});

test('search finds lines and the words of sessions, without case and accents, in any language', async () => {
  const { page } = await open(url);
  const search = page.getByRole('searchbox');
  for (const [query, result] of [
    ['MAKE push', 'Run `make check` before every push'],
    ['uberall bestand', 'Das Lager heißt überall „Bestand“'],
    ['运行测试', '提交前先运行测试'],
    ['nenne STOCK', 'Lager'],
  ] as const) {
    await search.fill(query);
    await page.locator('#results').getByText(result.slice(-12)).first().waitFor();
  }
  await search.fill('nobody ever said this');
  await page.getByText('Nothing found.').waitFor();
  await search.fill('64 KB');
  await page.locator('#results a').first().click();
  await page.locator('.line[open]').getByText('The queue drops messages over 64 KB').first().waitFor();
});

test('an address leads to a line or a session', async () => {
  const { page } = await open(`${url}#S${shortIdOf(1)}`);
  const dialog = page.getByRole('dialog', { name: 'Lager' });
  await dialog.getByRole('link', { name: 'Das Lager' }).click();
  await page.locator('.line[open] summary', { hasText: 'Das Lager' }).waitFor();
  assert.equal(await dialog.isVisible(), false);
});

test('everything is done with the keyboard alone, and one sees where one is', async () => {
  const { page } = await open(url);
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to the memory');
  await page.keyboard.press('Enter');
  await tabTo(page, /make check before every push/);
  await page.keyboard.press('Enter');
  await page.locator('.line[open] blockquote').waitFor();
  await tabTo(page, /^Open the session/);
  assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  assert.match(await focused(page), /^Open the session/);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing wrong in ${colorScheme}, with lines, tables and a session open`, async () => {
    const { page } = await open(url, { colorScheme, bypassCSP: true });
    await page.locator('.table summary').click();
    await page.getByText('Run make check before every push').click();
    await page.locator('.line[open] blockquote').waitFor();
    await page.getByRole('searchbox').fill('make');
    await page.locator('#results a').first().waitFor();
    assert.deepEqual(await faults(page), []);
    await page.getByRole('link', { name: 'Open the session' }).click();
    await page.getByRole('dialog').getByText('It builds.').waitFor();
    assert.deepEqual(await faults(page), []);
  });
}

test('axe finds what is planted', async () => {
  const { page } = await open(url, { bypassCSP: true });
  await page.evaluate('document.querySelector("label").remove()');
  assert.deepEqual(await faults(page), ['label: #query']);
});

test('landmarks and headings tell what is where', async () => {
  const { page } = await open(url);
  for (const role of ['banner', 'main', 'contentinfo', 'search', 'navigation'] as const)
    assert.equal(await page.getByRole(role).count(), 1, role);
  const names = await page.getByRole('heading', { level: 2 }).allTextContents();
  assert.deepEqual(names, ['Memory', 'What every session is told', 'Use', 'Nights', 'Waiting and failed']);
  for (const name of names) assert.equal(await page.getByRole('region', { name, exact: true }).count(), 1, name);
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
});

test('dark and light follow the system', async () => {
  const paper = async (colorScheme: 'light' | 'dark') => {
    const { page } = await open(url, { colorScheme });
    return page.evaluate('getComputedStyle(document.body).backgroundColor');
  };
  assert.deepEqual([await paper('light'), await paper('dark')], ['rgb(251, 250, 247)', 'rgb(21, 24, 27)']);
});

for (const width of [320, 360, 768, 1600]) {
  test(`at ${width} pixels nothing stands beyond the edge`, async () => {
    const { page } = await open(url, { viewport: { width, height: 740 } });
    await page.locator('.table summary').click();
    await page.getByText('Run make check before every push').click();
    await page.locator('.line[open] blockquote').waitFor();
    const wide = () => page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(await wide()) <= width, `${await wide()}`);
    await page.getByRole('link', { name: 'Open the session' }).click();
    await page.getByRole('dialog').getByText('It builds.').waitFor();
    assert.ok(Number(await page.evaluate('document.getElementById("session").scrollWidth')) <= width);
  });
}

test('on paper every line stands open to be read, and what only a screen needs is gone', async () => {
  const { page } = await open(url, { colorScheme: 'dark' });
  await page.locator('.repository > summary').first().click();
  await page.emulateMedia({ media: 'print' });
  await page.evaluate('dispatchEvent(new Event("beforeprint"))');
  for (const { line: text } of taught) await page.getByText(text.replaceAll('`', '')).first().waitFor();
  assert.equal(await page.getByRole('searchbox').isVisible(), false);
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)');
  assert.ok((await page.pdf()).byteLength > 10_000);
});

test('the use table is sorted by the column whose heading is pressed', async () => {
  const { page } = await open(url);
  const first = () => page.locator('#use-rows tr').first().textContent();
  await page.getByRole('button', { name: 'Found' }).click();
  assert.match((await first()) ?? '', /^Lager/);
  assert.equal(await page.locator('th[aria-sort]').textContent(), 'Found');
});

test('without scripts the figures, the nights and what failed are there', async () => {
  const { page } = await open(url, { javaScriptEnabled: false });
  await page.locator('noscript p').waitFor();
  await page.getByText('HTTP 400: the request is too long').waitFor();
  assert.ok((await page.locator('.wide-only .chart rect.up').count()) > 20);
});

test('a memory without a night is a page that says what to do', async () => {
  const { page, noise } = await open(urlOf(await aReport({ taught: [], files: { 'README.md': 'Nothing yet.\n' } })));
  await page.getByText('Nothing is remembered yet.').waitFor();
  await page.getByText('No night has run here yet.').waitFor();
  await page.getByText('Nothing waits and nothing failed.').waitFor();
  assert.deepEqual(noise, []);
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; nodes: { target: string[] }[] }[];
  };
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

async function focused(page: Page): Promise<string> {
  return String(await page.evaluate('document.activeElement.textContent')).trim();
}

async function tabTo(page: Page, text: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if (text.test(await focused(page))) return;
  }
  assert.fail(`Tab never came to ${text}`);
}
