import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Open, startBrowser } from '../support/browser.ts';
import type { Taught } from '../support/report-memory.ts';
import { aReport, urlOf } from '../support/report-page.ts';

const pwned = 'document.documentElement.dataset.pwned=1';
const attacks = [
  `<img src=x onerror="${pwned}">`,
  `</script><script>${pwned}</script>`,
  `</style><script>${pwned}</script><style>`,
  `"><svg onload="${pwned}">`,
  `' onfocus='${pwned}' autofocus='`,
  `[press me](javascript:${pwned})`,
  `<a href="javascript:${pwned}">press me</a>`,
  `<!--<script>${pwned}</script>-->`,
  `<!--<script>`,
  `]]><script>${pwned}</script>`,
  `<iframe srcdoc="<script>parent.${pwned}</script>">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example.test/">`,
  `<link rel="stylesheet" href="https://evil.example.test/x.css">`,
  `<base href="https://evil.example.test/">`,
  `<form action="https://evil.example.test/"><button>go`,
  `{{constructor.constructor("${pwned}")()}}`,
  `\u003cscript\u003e${pwned}\u003c/script\u003e`,
];
const hidden = 'safe\u202eevil\u2066 \u200bword\u{e0041}\u0007\ud800 end';

const taught: readonly Taught[] = [...attacks, hidden].map((attack, n) => ({
  repo: n === 3 ? `"><script>${pwned}</script>` : 'git.example.test/acme/shop',
  topic: `${attack.replaceAll('\n', ' ')} topic`,
  title: attack,
  line: `${attack} line`,
  words: [`${attack} words`, `${attack} answer`],
  summary: `${attack} summary`,
}));

let open: Open;
let close: () => Promise<void>;
let path: string;

before(async () => {
  ({ open, close } = await startBrowser());
  path = await aReport({
    taught,
    nights: 2,
    failures: attacks,
    files: {
      'memories/memory_summary.md': `v1\n\n## General Tips\n${attacks.map((attack) => `- ${attack}\n`).join('')}`,
      'memories/skills/evil/SKILL.md': `---\nname: evil\ndescription: ${JSON.stringify(attacks[0])}\nmetadata:\n  repo: "*"\n---\n${attacks[1]}\n`,
    },
  });
});

after(() => close());

test('what a memory smuggles in stays text wherever it is shown, even if the policy were not there', async () => {
  for (const bypassCSP of [false, true]) {
    const { page, noise } = await open(urlOf(path), { bypassCSP });
    for (const summary of await page.locator('.repository:not([open]) > summary').all()) await summary.click();
    for (const summary of await page.locator('.line > summary').all()) await summary.click();
    await page
      .locator('.line[open] blockquote')
      .nth(taught.length - 1)
      .waitFor();
    await page.getByRole('searchbox').fill('line');
    await page
      .locator('#results a')
      .nth(taught.length - 1)
      .waitFor();
    await page.locator('.open-session').nth(1).click();
    await page.getByRole('dialog').locator('pre', { hasText: 'summary' }).waitFor();
    assert.deepEqual(noise, []);
    assert.equal(await page.evaluate('document.documentElement.dataset.pwned'), undefined);
    assert.equal(await page.evaluate('document.scripts.length'), 3);
    assert.equal(
      await page.locator('main img, iframe, base, link, main form form, [onerror], [onload], [onfocus]').count(),
      0,
    );
    assert.deepEqual(
      await page.evaluate('[...document.links].map((a) => a.protocol).filter((p) => p !== "file:")'),
      [],
    );
    assert.equal(await page.getByText(`${attacks[0]} line`).first().isVisible(), true);
  }
});

test('characters that hide or turn the direction are shown as what they are', async () => {
  const { page } = await open(urlOf(path));
  for (const summary of await page.locator('.repository:not([open]) > summary').all()) await summary.click();
  await page.getByText('safe\\u{202e}evil\\u{2066} \\u{200b}word\\u{e0041}').first().waitFor();
  await page.locator('.line > summary').last().click();
  await page.locator('.line[open] blockquote').waitFor();
  const text = String(await page.evaluate('document.documentElement.textContent'));
  assert.doesNotMatch(text, /[\u0000-\u0008\u200b\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u);
  assert.doesNotMatch(
    readFileSync(path, 'utf8'),
    /[\u0000-\u0008\u200b\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u,
  );
});

test('the policy stops a script, a style, a picture, a request and a markup sink that got into the page', async () => {
  const { page } = await open(urlOf(path));
  const stopped = await page.evaluate(`(async () => {
    const stopped = [];
    document.addEventListener('securitypolicyviolation', (event) => stopped.push(event.effectiveDirective));
    const tried = (what) => { try { what(); } catch (error) { stopped.push(error.name); } };
    const add = (tag, fill) => tried(() => {
      const one = document.createElement(tag);
      fill(one);
      document.body.append(one);
      one.click();
    });
    add('script', (one) => one.append('${pwned}'));
    add('style', (one) => one.append('body { display: none }'));
    add('img', (one) => { one.src = 'https://evil.example.test/x.png'; });
    add('b', (one) => one.setAttribute('onclick', '${pwned}'));
    add('a', (one) => { one.href = 'javascript:${pwned}'; });
    tried(() => { document.body.innerHTML = '<p>gone'; });
    await fetch('https://evil.example.test/').catch(() => {});
    for (let frames = 0; frames < 5; frames += 1) await new Promise((done) => requestAnimationFrame(done));
    return stopped;
  })()`);
  for (const directive of [
    'connect-src',
    'img-src',
    'require-trusted-types-for',
    'script-src-elem',
    'style-src-elem',
    'TypeError',
  ])
    assert.ok((stopped as string[]).includes(directive), `${directive} of ${stopped}`);
  assert.equal(await page.evaluate('document.documentElement.dataset.pwned'), undefined);
  assert.equal(await page.evaluate('getComputedStyle(document.body).display'), 'block');
});
