import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutHomes } from '../../scripts/rollout/home.ts';
import { bounded, itemText } from '../../scripts/rollout/text.ts';
import { joined, made } from '../support/secrets.ts';

test("a user's home folder shows as ~, whatever the system", () => {
  for (const [text, shown] of [
    ['cat /home/dana/x.ts', 'cat ~/x.ts'],
    ['"/Users/dana/a b"', '"~/a b"'],
    ['cd /home/dana', 'cd ~'],
    ['C:\\Users\\Dana\\x', '~\\x'],
    ['{"p":"C:\\\\Users\\\\Dana\\\\x"}', '{"p":"~\\\\x"}'],
    ['file:///home/dana/x', 'file://~/x'],
    ['/mnt/c/Users/dana/x', '~/x'],
    ['/var/home/dana/x', '~/x'],
    ['PATH=/home/dana/bin:/home/erin/bin', 'PATH=~/bin:~/bin'],
    ['/tmp/claude/-home-dana-src-app/1.png', '/tmp/claude/-~-src-app/1.png'],
    ['/data/dana/x and /data/danae/x', '~/x and /data/danae/x'],
    ['https://example.test/at/home/page', 'https://example.test/at/home/page'],
    ['the word home and /homestead', 'the word home and /homestead'],
  ] as const)
    assert.equal(withoutHomes(text, '/data/dana'), shown);
});

test('a long text keeps head and tail, cut at line ends, the gap marked', () => {
  const text = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n');
  const cut = bounded(text, 8000);
  const [head = '', tail = ''] = cut.split(/\n\[… \d+ bytes omitted …\]\n/);
  assert.ok(cut.length < 8100 && text.startsWith(head) && text.endsWith(tail));
  assert.match(head, /\nline \d+$/);
  assert.match(tail, /^line \d+\n/);
  assert.equal(bounded('short', 8000), 'short');
});

test('a cut never halves a character', () => {
  const cut = bounded('日本語'.repeat(3000), 1000);
  assert.ok(!cut.includes('\uFFFD') && Buffer.byteLength(cut) < 1100);
});

test('media is named, whatever looks like media but is text stays', () => {
  const base64 = Buffer.from(Array.from({ length: 6000 }, (_, index) => (index * 7919) % 256)).toString('base64');
  assert.equal(itemText(`before data:image/png;base64,${base64} after`, 100_000, ''), 'before [image omitted] after');
  assert.equal(itemText(`x "${base64}"`, 100_000, ''), `x "[base64 omitted, ${base64.length} characters]"`);
  const ruler = '='.repeat(5000);
  assert.equal(itemText(ruler, 100_000, ''), ruler);
});

test('a cut leaves neither half of a secret nor one without its name', () => {
  const token = joined('gh', 'p_', made(36));
  const password = joined('Tr0ub4', 'dor-', made(8));
  const around = (at: number, secret: string) =>
    `${'a '.repeat(20_000).slice(0, at)}${secret} ${'b '.repeat(40_000)}`.slice(0, 80_000);
  for (let back = 0; back <= 44; back += 4) {
    const head = bounded(around(16_384 - back, token), 32_768);
    assert.ok(!head.includes(token.slice(4, 16)) || head.includes(token), `half of it ${back} before the head's end`);
    const text = [...around(16_384 - back, token)].reverse().join('');
    const tail = bounded(text, 32_768);
    const reversed = [...token].reverse().join('');
    assert.ok(
      !tail.includes(reversed.slice(-16, -4)) || tail.includes(reversed),
      `half of a word ${back} after the cut`,
    );
  }
  for (let back = 0; back <= 20; back += 2) {
    const text = `${'c '.repeat(40_000)}password=${password} ${'d '.repeat(20_000).slice(0, 16_384 - back)}`;
    assert.ok(!bounded(text, 32_768).includes(password) || bounded(text, 32_768).includes(`password=${password}`));
  }
});
