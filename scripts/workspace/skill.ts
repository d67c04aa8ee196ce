import { type FrontMatter, parseFrontMatter } from '../shared/front-matter.ts';
import type { Scope } from './layout.ts';

/** Whose a skill is, by `metadata.repo`; null where its front matter does not say. */
export function skillScope(text: string): Scope | null {
  const front = parseFrontMatter(text);
  if (front.outcome === 'wrong') return null;
  const repo = metadataOf(front)?.repo;
  return typeof repo === 'string' ? repo : null;
}

/** `metadata` of a skill's front matter where it is a record. */
export function metadataOf(front: Extract<FrontMatter, { outcome: 'read' }>): Readonly<Record<string, unknown>> | null {
  const { metadata } = front.data;
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return null;
  return Object.fromEntries(Object.entries(metadata));
}

/** The skill with another name in its front matter. */
export function renameSkill(text: string, name: string): string {
  const end = text.indexOf('\n---', 3);
  return `${text.slice(0, end).replace(/^name:.*$/m, `name: ${name}`)}${text.slice(end)}`;
}
