import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../scripts/shared/errors.ts';
import { type CommandSpec, parseFlags, specOf } from '../../scripts/shared/flags.ts';
import { helpText } from '../../scripts/shared/help.ts';

const sub: CommandSpec = {
  name: 'tool -- weigh',
  purpose: 'Weighs.',
  flags: { scale: { kind: 'value', value: '<file>', help: 'with this scale' } },
  positionals: ['<thing>'],
  examples: ['npm run tool -- weigh stone'],
};

const whole: CommandSpec = {
  name: 'tool',
  purpose: 'Does things.',
  flags: {
    only: { kind: 'list', value: '<part>', oneOf: ['first', 'second', 'third', 'fourth', 'fifth'], help: 'this alone' },
    dry: { kind: 'switch', help: `nothing${' and nothing'.repeat(12)}` },
  },
  positionals: ['[part]'],
  examples: ['npm run tool'],
  commands: { weigh: sub },
};

test('the first argument that is no flag chooses a sub-command, wherever it stands, with flags of its own', () => {
  for (const args of [
    ['weigh', '--scale', 'a', 'stone'],
    ['--scale', 'a', 'weigh', 'stone'],
  ]) {
    const flags = parseFlags(whole, args);
    assert.equal(flags.command, 'weigh');
    assert.equal(flags.valueOf('scale'), 'a');
    assert.deepEqual(flags.positionals, ['stone']);
  }
});

test("a flag's value is never taken for a sub-command, nor a name that objects have by themselves", () => {
  assert.equal(parseFlags(whole, ['--only', 'first', 'second']).command, null);
  assert.equal(parseFlags(whole, ['--only=first']).command, null);
  assert.equal(parseFlags(whole, ['constructor']).command, null);
  assert.equal(parseFlags(sub, ['weigh']).command, null);
});

test("another one's flag is refused, and the hint names the right help", () => {
  assert.throws(
    () => parseFlags(whole, ['weigh', '--dry']),
    (error) => error instanceof UsageError && error.hint === 'See npm run tool -- weigh --help.',
  );
  assert.throws(
    () => parseFlags(whole, ['--scale', 'a']),
    (error) => error instanceof UsageError && error.hint === 'See npm run tool -- --help.',
  );
});

test('the help is at most 100 columns wide and loses no word', () => {
  const text = helpText(whole);
  const [body = ''] = text.split('\nexamples:');
  assert.deepEqual(
    body.split('\n').filter((line) => line.length > 100),
    [],
  );
  assert.match(text, /--only <part> {2}this alone \(repeatable\): first, second, third, fourth, fifth\n/);
  assert.equal(text.match(/nothing/g)?.length, 13);
  assert.match(text, /usage: npm run tool -- \[flags\] \[part\]\n {7}npm run tool -- <command> \[flags\]\n/);
  assert.match(text, /commands.*\n {2}weigh {2}Weighs\.\n/);
});

test("a sub-command's help is its own", () => {
  const flags = parseFlags(whole, ['weigh', '--help']);
  assert.equal(flags.help, true);
  const text = helpText(specOf(whole, flags.command));
  assert.match(text, /^Weighs\.\n\nusage: npm run tool -- weigh \[flags\] <thing>\n/);
  assert.ok(!text.includes('--only'));
});
