import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { type Listings, listingsOf, seenBy } from '../support/listings.ts';
import { type Lots, lotsFrom, someWords } from '../support/lots.ts';
import { claudeLine, codexMessage, codexMeta } from '../support/sessions.ts';

const idOf = (n: number) => `01a229b0-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** What changes on a machine from one night to the next, one thing at a time. */
class Machine {
  readonly listings: Listings;
  readonly lots: Lots;
  /** Session file → its lines, by names below the folder. */
  readonly files = new Map<string, (object | string)[]>();
  made = 0;

  constructor(listings: Listings, lots: Lots) {
    this.listings = listings;
    this.lots = lots;
    this.remotes('shop');
    symlinkSync(listings.write('elsewhere.jsonl', [codexMeta({ id: idOf(999) })]), join(listings.folder, 'link.jsonl'));
    for (const change of [this.codex, this.codex, this.claude, this.claude, this.gemini]) change.call(this);
  }

  put(name: string, lines: (object | string)[]): string {
    this.files.set(name, lines);
    return this.listings.write(name, lines);
  }

  any(part = ''): string | undefined {
    const names = [...this.files.keys()].filter((name) => name.includes(part));
    return names[this.lots.below(names.length)];
  }

  words(): string {
    return someWords(this.lots, 1 + this.lots.below(4));
  }

  cwd(): string {
    return join(this.listings.folder, this.lots.of(['shop/src', 'nothing', 'shop']));
  }

  /** Forks now and then, also of a session that is gone by then. */
  codex(): void {
    const id = idOf(++this.made);
    const from = this.lots.percent(50) ? this.any('codex/') : undefined;
    const copied = from === undefined ? [] : (this.files.get(from) ?? []).slice(1);
    const parent = from === undefined ? {} : { forked_from_id: basename(from, '.jsonl') };
    const own = [codexMessage('user', [this.words()]), codexMessage('assistant', [this.words()])];
    this.put(`codex/${id}.jsonl`, [codexMeta({ id, cwd: this.cwd(), ...parent }), ...copied, ...own]);
  }

  claude(): void {
    const id = idOf(++this.made);
    const from = this.lots.percent(50) ? this.any('claude/') : undefined;
    const copied = from === undefined ? [] : (this.files.get(from) ?? []);
    const own = claudeLine('user', this.words(), { uuid: `u${this.made}`, sessionId: id, cwd: this.cwd() });
    this.put(`claude/p/${id}.jsonl`, [...copied, own]);
  }

  /** A sub-agent's transcript, or an output that stands in a file of its own. */
  beside(): void {
    const session = this.any('claude/');
    if (session === undefined) return;
    const side = session.replace('.jsonl', '');
    this.listings.write(`${side}/subagents/${this.lots.below(2)}.jsonl`, [
      claudeLine('user', this.words(), { isSidechain: true, uuid: this.words() }),
    ]);
    this.listings.write(`${side}/tool-results/${this.lots.below(2)}.txt`, [this.words()]);
  }

  gemini(): void {
    const n = ++this.made;
    const header = { sessionId: idOf(n), projectHash: 'ab', startTime: '2026-11-29T10:00:00.000Z', kind: 'main' };
    const said = {
      id: `m${n}`,
      timestamp: '2026-11-29T10:00:01.000Z',
      type: 'user',
      content: [{ text: this.words() }],
    };
    this.put(`gemini/tmp/p/chats/session-2026-11-29T10-00-${String(n).padStart(8, '0')}.jsonl`, [header, said]);
  }

  project(): void {
    this.listings.write('gemini/tmp/p/.project_root', [this.cwd()]);
  }

  appended(): void {
    const name = this.any();
    if (name === undefined) return;
    const more = name.startsWith('claude')
      ? claudeLine('user', this.words(), { uuid: `more ${this.words()}` })
      : codexMessage('user', [this.words()]);
    this.put(name, [...(this.files.get(name) ?? []), more]);
  }

  /** As many bytes, of the same time. */
  replaced(): void {
    const name = this.any();
    if (name === undefined) return;
    const { atime, mtime } = statSync(join(this.listings.folder, name));
    const text = readFileSync(join(this.listings.folder, name), 'utf8').replace(/[aeiou](?=[^aeiou]*$)/, '_');
    const path = this.put(name, [text]);
    utimesSync(path, atime, mtime);
  }

  removed(name = this.any()): void {
    if (name === undefined) return;
    this.files.delete(name);
    rmSync(join(this.listings.folder, name));
  }

  renamed(): void {
    const name = this.any();
    const lines = this.files.get(name ?? '');
    if (name === undefined || lines === undefined) return;
    this.removed(name);
    this.put(join(dirname(name), `${idOf(500 + ++this.made)}.jsonl`), lines);
  }

  /** The same session twice, the second a little longer or not. */
  doubled(): void {
    const name = this.any('codex/');
    const lines = this.files.get(name ?? '');
    if (lines === undefined) return;
    const more = this.lots.percent(50) ? [codexMessage('user', [this.words()])] : [];
    this.put(`codex/twice/${++this.made}.jsonl`, [...lines, ...more]);
  }

  noSession(): void {
    const lines = this.lots.of([[], ['no session\n'], [{ type: 'session_meta' }], [codexMeta({ id: '../..' })]]);
    this.put(`codex/none-${this.lots.below(3)}.jsonl`, [...lines]);
  }

  remotes(name = this.lots.of(['shop', 'other', 'third'])): void {
    this.listings.write('shop/.git/config', [`[remote "origin"]\n\turl = https://git.example.test/acme/${name}.git\n`]);
  }

  /** Its bytes are as before, its file is another one. */
  touched(): void {
    const name = this.any();
    if (name === undefined) return;
    const path = join(this.listings.folder, name);
    mkdirSync(join(this.listings.folder, 'aside'), { recursive: true });
    copyFileSync(path, join(this.listings.folder, 'aside/copy'));
    writeFileSync(path, readFileSync(join(this.listings.folder, 'aside/copy')));
    utimesSync(path, 1_577_836_801, 1_577_836_801);
  }
}

const changes = [
  'codex',
  'claude',
  'beside',
  'gemini',
  'project',
  'appended',
  'replaced',
  'removed',
  'renamed',
  'doubled',
  'noSession',
  'remotes',
  'touched',
] as const;

for (const seed of [1, 2, 3, 4]) {
  test(`whatever changes, a kept listing tells what a fresh one tells, and reads what changed alone (${seed})`, async (t) => {
    const lots = lotsFrom(seed);
    const listings = listingsOf(t, (folder) => [
      { agent: 'codex', path: join(folder, 'codex') },
      { agent: 'claude-code', path: join(folder, 'claude') },
      { agent: 'gemini', path: join(folder, 'gemini') },
      { agent: 'codex', path: join(folder, 'link.jsonl') },
    ]);
    const machine = new Machine(listings, lots);
    const place = { include: ['git.example.test/acme/shop'] };
    for (let night = 0; night < 40; night += 1) {
      const change = lots.of([...changes]);
      machine[change]();
      const kept = await seenBy(listings.next({ place }));
      assert.deepEqual(kept, await seenBy(listings.next({ place, isFresh: true })), `night ${night}: ${change}`);
      const quiet = listings.next({ place });
      await quiet.list();
      assert.equal(quiet.count(), 0, `night ${night} again, after ${change}`);
    }
    assert.ok(machine.files.size > 5);
  });
}
