import { sanitizeText } from './sanitize.ts';

/** One escape door for each channel that leaves us. Text from a rollout, a model or a pull request goes through one. */

/**
 * For the context of a session: memory text may neither close the frame it stands in nor open one of the tags by which
 * agents tell their own words from others'. Hidden characters are gone first, so that none hides such a tag.
 */
export function contextText(text: string): string {
  const clean = sanitizeText(text);
  if (!clean.includes('<')) return clean;
  return clean.replace(frames, (tag) => `‹${tag.slice(1)}`).replace(/<\|/g, '‹|');
}

/** For a terminal or a log line: control, bidirectional and invisible characters shown as `\u{…}`, one line. */
export function terminalText(text: string): string {
  return text.replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** JSON for a terminal or a program: what `terminalText` hides stands as `\uXXXX`, so that nothing is lost. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(hidden, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/**
 * For running text in Markdown (step summary, pull request): no markup, no mention, no reference, no link takes effect,
 * nor do they where a squash makes a commit message of it. Hosts look for mentions and references after Markdown is
 * rendered, so a backslash does not stop them: a zero-width space does.
 */
export function markdownText(text: string): string {
  return terminalText(text)
    .replace(/[\\`*_{}[\]<>#|~!-]/g, (character) => `\\${character}`)
    .replace(/[@#!$%&^:](?=[^\s])/g, (character) => `${character}\u200b`)
    .replace(/\b(gh)\\-(?=\d)/gi, '$1\\-\u200b')
    .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}\u200b.`);
}

/**
 * For the value of a commit's trailer or subject: one line of printable ASCII without a colon-newline trick, a mention,
 * a reference that closes an issue, or a bracketed word that stops a CI.
 */
export function commitText(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, '?')
    .replace(/(?<!\w)@(?=\w)/g, '(at)')
    .replace(/#(?=\d)/g, 'no. ')
    .replace(/\b(gh)-(?=\d)/gi, '$1 ')
    .replace(/:\/\//g, ': //')
    .replace(/\[/g, '(')
    .replace(/\]/g, ')')
    .replace(/\*\*\*/g, '*')
    .trim();
}

/** For the message of a GitHub Actions workflow command (`::warning::…`). */
export function workflowText(text: string): string {
  return terminalText(text).replace(/%/g, '%25').replace(/::/g, ':\u200b:');
}

/** For the value of a workflow command's property, such as its `file=`. */
export function workflowProperty(text: string): string {
  return terminalText(text).replace(/%/g, '%25').replace(/:/g, '%3A').replace(/,/g, '%2C');
}

/**
 * For HTML: text between tags and in quoted attributes. Characters that no reader sees or that turn the direction stand
 * there as `\u{…}`; line feeds and tabs stay.
 */
export function htmlText(text: string): string {
  return visibleText(text).replace(/[&<>"'`]/g, (character) => entities[character] ?? character);
}

/**
 * A value as JSON for a `<script type="application/json">` of a page: nothing in it can end the element, and its texts
 * are as `htmlText` shows them, so that who reads it out may put them into the page as text.
 */
export function htmlJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? visibleText(member) : member,
  ).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function visibleText(text: string): string {
  return Buffer.from(text.replace(/\r\n?/g, '\n'))
    .toString()
    .replace(hiddenInPages, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The frames of ours and of the agents that recall serves, whatever stands between the sign and the name. */
const frames =
  /<(?=[\s/]{0,20}(?:commit-to-memory|oai-mem-citation|citation_entries|rollout_ids|system|developer|user|assistant|human|hook|instructions|permissions|environment|skills?|persisted-output)(?![a-z]))/giu;

// C0, DEL, C1, zero-width, line and paragraph separators, bidirectional controls, byte order mark, tags.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

// As `hidden`, without line feed and tab, and without joiners that are a word's or an emoji's own.
const hiddenInPages =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|(?<![^\u0000-\u007f])[\u200c\u200d]|[\u{e0000}-\u{e007f}]/gu;
