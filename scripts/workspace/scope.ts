import { byBinary, type Files } from '../shared/files.ts';
import { lastOf } from '../shared/last.ts';
import { entryOf, extensionPart, extensionPath } from './extension.ts';
import { type Block, joinBlocks, parseHandbook, scopeOf, spacedBlocks } from './handbook.ts';
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
  const own = new Map([...projectWritten(files, scope), ...(summariesByScope(files).get(scope) ?? [])]);
  const raw = files.get(rawMemoriesPath);
  if (raw !== undefined) own.set(rawMemoriesPath, rawMemoriesOf(raw, scope));
  return new Map([...own].sort(([a], [b]) => byBinary(a, b)));
}

/** The same without what code makes from rows. */
export function projectWritten(files: Files, scope: Scope): Files {
  const own = new Map(writtenByScope(files).get(scope));
  const [handbook, summary] = [files.get(handbookPath), files.get(memorySummaryPath)];
  const blocks = handbook === undefined ? undefined : blocksByScope(handbook).get(scope);
  if (blocks !== undefined) own.set(handbookPath, joinBlocks('', blocks));
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
  return spliceAll(files, new Map([[scope, projection]]));
}

/** The same for several scopes, one after the other; what all of them change is read and written once. */
export function spliceAll(files: Files, projections: ReadonlyMap<Scope, Files>): Files {
  const next = new Map(files);
  const handbook = spliceHandbook(files.get(handbookPath), projections);
  if (handbook === null) next.delete(handbookPath);
  else next.set(handbookPath, handbook);
  const skills = new Map([...files].filter(([path]) => skillOf(path) !== null));
  for (const path of skills.keys()) next.delete(path);
  for (const [scope, projection] of projections) spliceSkills(skills, scope, projection);
  for (const [path, text] of skills) next.set(path, text);
  const own = projections.get(everywhere);
  const summary = own?.get(memorySummaryPath);
  if (summary !== undefined) next.set(memorySummaryPath, summary);
  else if (own !== undefined) next.delete(memorySummaryPath);
  return new Map([...next].sort(([a], [b]) => byBinary(a, b)));
}

/** Every scope asks for its part of the same files: each is looked at once. */
const summariesByScope = lastOf((files: Files) =>
  byScope(files, (path, text) => (stemOf(path) === null ? null : (splitHeader(text).header.repo ?? null))),
);

/** Skills, notes and resources. */
const writtenByScope = lastOf((files: Files) =>
  byScope(files, (path, text) => {
    if (skillOf(path) !== null) return skillScope(text);
    const entry = entryOf(path, text);
    return entry === null || Buffer.byteLength(text) > sizeLimits.resourceBytes ? null : entry.scope;
  }),
);

function byScope(files: Files, ownerOf: (path: string, text: string) => Scope | null): ReadonlyMap<Scope, Files> {
  const found = new Map<Scope, Map<string, string>>();
  for (const [path, text] of files) {
    const scope = ownerOf(path, text);
    if (scope === null) continue;
    const known = found.get(scope);
    if (known === undefined) found.set(scope, new Map([[path, text]]));
    else known.set(path, text);
  }
  return found;
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

/** A block where it stands now. */
interface Piece {
  readonly block: Block;
  readonly raw: string;
}

function spliceHandbook(text: string | undefined, projections: ReadonlyMap<Scope, Files>): string | null {
  const whole = parseHandbook(text ?? '');
  let [preamble, pieces] = [whole.preamble, whole.blocks.map(pieceOf)];
  let isChanged = false;
  for (const [scope, own] of projections) {
    const wanted = parseHandbook(own.get(handbookPath) ?? '').blocks.filter((block) => scopeOf(block) === scope);
    const slots = pieces.filter(({ block }) => scopeOf(block) === scope);
    if (wanted.length === slots.length && wanted.every((block, index) => isSame(block, slots[index]))) continue;
    const placed = placeInSlots(slots, wanted);
    const next = pieces.flatMap((piece) =>
      scopeOf(piece.block) === scope
        ? (placed.get(piece) ?? []).map((block) => (isSame(block, piece) ? { ...piece, block } : pieceOf(block)))
        : [piece],
    );
    if (slots.length === 0) next.push(...wanted.map(pieceOf));
    const [before = '', ...raws] = spacedBlocks(
      preamble,
      next.map(({ raw }) => raw),
    );
    preamble = before;
    pieces = next.map(({ block, raw }, index) => ({ block, raw: raws[index] ?? raw }));
    isChanged = true;
  }
  return isChanged ? [preamble, ...pieces.map(({ raw }) => raw)].join('') : (text ?? null);
}

function pieceOf(block: Block): Piece {
  return { block, raw: block.raw };
}

function isSame(block: Block, piece: Piece | undefined): boolean {
  return block.raw.trimEnd() === piece?.raw.trimEnd();
}

/**
 * Gives each wanted block the slot of the old block with its title, in the order wanted; one without such a slot
 * follows its predecessor.
 */
function placeInSlots(slots: readonly Piece[], wanted: readonly Block[]): Map<Piece, Block[]> {
  const placed = new Map<Piece, Block[]>();
  let used = -1;
  for (const block of wanted) {
    const slot = slots.findIndex((candidate, index) => index > used && candidate.block.title === block.title);
    if (slot > used) used = slot;
    const key = slots[Math.max(used, 0)];
    if (key !== undefined) placed.set(key, [...(placed.get(key) ?? []), block]);
  }
  return placed;
}

function spliceSkills(skills: Map<string, string>, scope: Scope, projection: Files): void {
  const others = new Map<string, string>();
  for (const [path, text] of [...skills]) {
    if (skillScope(text) === scope) skills.delete(path);
    else others.set(path, text);
  }
  for (const [path, text] of projection) {
    const name = skillOf(path);
    if (name === null || skillScope(text) !== scope) continue;
    const free = freeName(name, (candidate) => others.has(skillPath(candidate)));
    skills.set(skillPath(free), free === name ? text : renameSkill(text, free));
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
