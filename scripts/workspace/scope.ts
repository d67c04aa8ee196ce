import { byBinary, type Files } from '../shared/files.ts';
import { lastOf } from '../shared/last.ts';
import { entryOf, extensionPart, extensionPath } from './extension.ts';
import { type Block, joinBlocks, parseHandbook, scopeOf } from './handbook.ts';
import { rawMemoriesOf, splitHeader } from './inputs.ts';
import {
  everywhere,
  handbookPath,
  memorySummaryPath,
  rawMemoriesPath,
  type Scope,
  sizeLimits,
  skillOf,
  skillsFolder,
  stemOf,
} from './layout.ts';
import { renameSkill, skillScope } from './skill.ts';

/**
 * What consolidating one scope sees: its blocks of the handbook, its raw memories and summaries, its skills, the
 * notes and resources that are its; `*` also the memory summary. Blocks and inputs are cut from the source; the space between two blocks, which another scope's
 * block may change, is always one line.
 */
export function project(files: Files, scope: Scope): Files {
  const own = new Map(filesByScope(files).get(scope));
  const [handbook, raw, summary] = [handbookPath, rawMemoriesPath, memorySummaryPath].map((path) => files.get(path));
  const blocks = handbook === undefined ? undefined : blocksByScope(handbook).get(scope);
  if (blocks !== undefined) own.set(handbookPath, joinBlocks('', blocks));
  if (raw !== undefined) own.set(rawMemoriesPath, rawMemoriesOf(raw, scope));
  if (summary !== undefined && scope === everywhere) own.set(memorySummaryPath, summary);
  // How an extension is to be read is told to those that read something of it.
  for (const path of [...own.keys()]) {
    const extension = extensionPart(path)?.extension;
    if (extension === undefined) continue;
    const told = extensionPath({ extension, kind: 'instructions', name: 'instructions.md' });
    const text = files.get(told);
    if (text !== undefined) own.set(told, text);
  }
  return new Map([...own].sort(([a], [b]) => byBinary(a, b)));
}

/** Every scope that a block of the handbook, a summary or a skill belongs to, in binary order. */
export function scopesOf(files: Files): Scope[] {
  const scopes = new Set<Scope>();
  for (const [path, text] of files) {
    if (path === handbookPath) for (const block of parseHandbook(text).blocks) scopes.add(scopeOf(block) ?? '');
    if (stemOf(path) !== null) scopes.add(splitHeader(text).header.repo ?? '');
    if (skillOf(path) !== null) scopes.add(skillScope(text) ?? '');
    const scope = entryOf(path, text)?.scope ?? everywhere;
    if (scope !== everywhere) scopes.add(scope);
  }
  scopes.delete('');
  return [...scopes].sort(byBinary);
}

/**
 * Puts a scope's projection back: its blocks in their old places, new ones after the block they follow, its skills, for
 * `*` the memory summary. Everything of others stays as it is; generated files are not looked at. An unchanged
 * projection gives the same bytes.
 */
export function splice(files: Files, scope: Scope, projection: Files): Files {
  const next = new Map(files);
  const handbook = spliceHandbook(files.get(handbookPath), scope, projection.get(handbookPath) ?? '');
  if (handbook === null) next.delete(handbookPath);
  else next.set(handbookPath, handbook);
  spliceSkills(next, scope, projection);
  const summary = projection.get(memorySummaryPath);
  if (scope === everywhere && summary === undefined) next.delete(memorySummaryPath);
  if (scope === everywhere && summary !== undefined) next.set(memorySummaryPath, summary);
  return new Map([...next].sort(([a], [b]) => byBinary(a, b)));
}

/** Whose each file is that belongs to one scope as a whole. Every scope asks for its part of the same files. */
const filesByScope = lastOf((files: Files): ReadonlyMap<Scope, ReadonlyMap<string, string>> => {
  const found = new Map<Scope, Map<string, string>>();
  for (const [path, text] of files) {
    const scope = ownerOf(path, text);
    if (scope === null) continue;
    const known = found.get(scope);
    if (known === undefined) found.set(scope, new Map([[path, text]]));
    else known.set(path, text);
  }
  return found;
});

function ownerOf(path: string, text: string): Scope | null {
  if (stemOf(path) !== null) return splitHeader(text).header.repo ?? null;
  if (skillOf(path) !== null) return skillScope(text);
  const entry = entryOf(path, text);
  return entry === null || Buffer.byteLength(text) > sizeLimits.resourceBytes ? null : entry.scope;
}

/** Every scope asks for its part of the same text: it is read once. */
const blocksByScope = lastOf((text: string): ReadonlyMap<Scope | null, readonly string[]> => {
  const found = new Map<Scope | null, string[]>();
  for (const block of parseHandbook(text).blocks) {
    const scope = scopeOf(block);
    found.set(scope, [...(found.get(scope) ?? []), `${block.raw.trimEnd()}\n`]);
  }
  return found;
});

function spliceHandbook(text: string | undefined, scope: Scope, own: string): string | null {
  const whole = parseHandbook(text ?? '');
  const wanted = parseHandbook(own).blocks.filter((block) => scopeOf(block) === scope);
  const slots = whole.blocks.filter((block) => scopeOf(block) === scope);
  if (
    wanted.length === slots.length &&
    wanted.every((block, index) => block.raw.trimEnd() === slots[index]?.raw.trimEnd())
  )
    return text ?? null;
  const placed = placeInSlots(slots, wanted);
  const raws = whole.blocks.flatMap((block) => {
    if (scopeOf(block) !== scope) return [block.raw];
    return (placed.get(block) ?? []).map(({ raw }) => (raw.trimEnd() === block.raw.trimEnd() ? block.raw : raw));
  });
  if (slots.length === 0) raws.push(...wanted.map(({ raw }) => raw));
  return text === undefined && raws.length === 0 ? null : joinBlocks(whole.preamble, raws);
}

/**
 * Gives each wanted block the slot of the old block with its title, in the order wanted; one without such a slot
 * follows its predecessor.
 */
function placeInSlots(slots: readonly Block[], wanted: readonly Block[]): Map<Block, Block[]> {
  const placed = new Map<Block, Block[]>();
  let used = -1;
  for (const block of wanted) {
    const slot = slots.findIndex((candidate, index) => index > used && candidate.title === block.title);
    if (slot > used) used = slot;
    const key = slots[Math.max(used, 0)];
    if (key !== undefined) placed.set(key, [...(placed.get(key) ?? []), block]);
  }
  return placed;
}

function spliceSkills(next: Map<string, string>, scope: Scope, projection: Files): void {
  const others = new Map<string, string>();
  for (const [path, text] of next) {
    if (skillOf(path) === null) continue;
    if (skillScope(text) === scope) next.delete(path);
    else others.set(path, text);
  }
  for (const [path, text] of projection) {
    const name = skillOf(path);
    if (name === null || skillScope(text) !== scope) continue;
    const free = freeName(name, (candidate) => others.has(skillPath(candidate)));
    next.set(skillPath(free), free === name ? text : renameSkill(text, free));
  }
}

function skillPath(name: string): string {
  return `${skillsFolder}${name}/SKILL.md`;
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  let count = 2;
  while (isTaken(`${name}-${count}`)) count += 1;
  return `${name}-${count}`;
}
