import { readFileSync } from 'node:fs';
import { sha256 } from './thread-id.ts';

/** The files of `prompts/`, without `.md`. */
export const promptNames = [
  'phase1-system',
  'phase1-input',
  'phase1-repair',
  'phase2-system',
  'phase2-init',
  'phase2-incremental',
  'phase2-star',
  'phase2-repair',
  'recall',
  'extension-ad-hoc',
  'extension-import',
] as const;

export type PromptName = (typeof promptNames)[number];

/** `language` of the configuration. */
export type Language = 'source' | 'en';

/** A prompt and its values do not fit together: a mistake in the program, never in its input. */
export class PromptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The template's text, read beside this module, whatever the working folder. LF, one newline at the end. */
export function loadPrompt(name: PromptName): string {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const file = readFileSync(new URL(`../../prompts/${name}.md`, import.meta.url), 'utf8');
  const text = `${file.replace(/\r\n?/g, '\n').trimEnd()}\n`;
  loaded.set(name, text);
  return text;
}

/** A run sees one text of each, whatever happens to the files meanwhile: the hash in its requests stays true. */
const loaded = new Map<PromptName, string>();

/**
 * Puts values into a template's `{{places}}`, in one pass: what a value says is never rendered.
 * @throws PromptError for a place without a value, a value without a place, and braces that are no place.
 */
export function renderPrompt(template: string, values: Readonly<Record<string, string>>): string {
  const used = new Set<string>();
  const rendered = template.replace(/\{\{([a-z][a-z0-9_]{0,40})\}\}|\{\{|\}\}/g, (braces, name: string | undefined) => {
    if (name === undefined) throw new PromptError(`The prompt holds ${braces} that belongs to no place.`);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new PromptError(`The prompt's place {{${name}}} has no value.`);
    used.add(name);
    return value;
  });
  for (const name of Object.keys(values))
    if (!used.has(name)) throw new PromptError(`The value "${name}" has no place in the prompt.`);
  return rendered;
}

/**
 * Text from outside between two tags whose name comes from the text's own hash, so that the text can neither hold nor
 * guess it.
 * @param kind what it is, for the reader: `rollout`, `diff`.
 */
export function fence(kind: string, text: string): string {
  let tag = `${kind}-${sha256(text).slice(0, 12)}`;
  while (text.includes(tag)) tag = `${kind}-${sha256(tag).slice(0, 12)}`;
  return `<${tag}>\n${text}\n</${tag}>`;
}

/** First 16 hex digits of the sha256 over the named prompts, for a request's `promptHash`. */
export function promptHash(names: readonly PromptName[]): string {
  return sha256(names.map((name) => `${name}\n${loadPrompt(name)}`).join('\0')).slice(0, 16);
}

/** The value of the prompts' place `{{language}}`. */
export function languagePhrase(language: Language): string {
  return language === 'en' ? 'English' : 'the language in which the people of these sessions write';
}
