import { createHash } from 'node:crypto';
import { htmlJson, htmlText } from '../shared/escape.ts';
import type { Report } from './gather.ts';
import { html } from './html.ts';
import { nightsSection } from './nights-section.ts';
import type { Packed } from './pack.ts';
import { memorySection, overview, sessionDialog, toldSection, useSection } from './sections.ts';
import { waitingSection } from './waiting-section.ts';

/** The page's own script and style, bundled. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** Stands in every report, and in no other file. */
export const signature = '<meta name="generator" content="commit-to-memory report">';

/**
 * The report as one HTML file that loads nothing. The policy in it lets its own script and style run, known by their
 * hashes, and nothing else: what a transcript smuggled into the page would stay text even if an escape were missing.
 */
export function pageOf(report: Report, packed: Packed, { script, style }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const body = html`<a class="skip" href="#main">Skip to the memory</a>
${overview(report)}
<main id="main" tabindex="-1">
${memorySection(report, packed)}
${toldSection(report)}
${useSection(report)}
${nightsSection(report)}
${waitingSection(report)}
</main>
<footer><p>Made by <code>npm run report</code>. Everything is in this file: it loads nothing and sends nothing. Secrets were removed; session words may still be private, so share it as you would share a transcript.</p></footer>
${sessionDialog()}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${signature}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Memory of ${htmlText(report.branch)}</title>
<style>${style}</style>
</head>
<body>
${body}
<script type="application/json" id="index">${htmlJson(report.index)}</script>
<script type="text/plain" id="words">${packed.text}</script>
<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
