import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian puts it; `CTM_CHROMIUM` names another place. */
export const chromiumPath = process.env.CTM_CHROMIUM ?? '/usr/bin/chromium';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Opened {
  readonly page: Page;
  /** What the page said on the console or threw, and what it asked for beside itself. */
  readonly noise: readonly string[];
}

/** A browser of its own with an empty profile. */
export async function startBrowser(): Promise<{ open: Open; close(): Promise<void> }> {
  if (!existsSync(chromiumPath))
    throw new Error(`There is no ${chromiumPath}: apt-get install chromium, or name another one in CTM_CHROMIUM.`);
  const profile = mkdtempSync(join(tmpdir(), 'memory-browser-'));
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    args: [...flags, `--crash-dumps-dir=${profile}`],
    env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
  });
  const contexts: BrowserContext[] = [];
  return {
    open: async (url, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
      contexts.push(context);
      const page = await context.newPage();
      const noise: string[] = [];
      page.on('console', (message) => noise.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
      page.on('dialog', (dialog) => {
        noise.push(`dialog: ${dialog.message()}`);
        dialog.dismiss().catch((error: unknown) => noise.push(String(error)));
      });
      page.on('request', (request) => {
        if (request.url().split('#')[0] !== url.split('#')[0]) noise.push(`request: ${request.url()}`);
      });
      await page.goto(url);
      return { page, noise };
    },
    close: async () => {
      for (const context of contexts) await context.close();
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

export type Open = (url: string, options?: BrowserContextOptions) => Promise<Opened>;
