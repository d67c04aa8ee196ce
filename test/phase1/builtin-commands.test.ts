import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simpleCommands } from '../../scripts/phase1/builtin/commands.ts';

const keys = (line: string) => simpleCommands(line).map((simple) => simple.key);
const purposes = (line: string) => simpleCommands(line).map((simple) => `${simple.program} ${simple.purpose}`);

test('flags, variables, redirections and the shell around a script do not make another command', () => {
  for (const line of [
    'npm test',
    'CI=1 npm test --silent',
    'npm test > out.txt 2>&1',
    "bash -lc 'npm test'",
    'time npm test',
  ])
    assert.deepEqual(keys(line), ['npm test'], line);
  for (const line of ['./rotate.sh', 'sh rotate.sh', 'bash -x ./rotate.sh', '/opt/x/rotate.sh'])
    assert.deepEqual(keys(line), ['rotate.sh'], line);
  assert.deepEqual(keys('python3 -c "import fetch"'), keys("python3 - <<'PY'\nimport fetch\nPY"));
});

test('quotes, escapes and substitutions hold a command together; a pipe leads to filters', () => {
  assert.deepEqual(keys('grep \'a && b; c\' x.txt | sort; node --test && echo "a | b"'), [
    'grep a && b; c x.txt',
    'node',
    'echo a | b',
  ]);
  assert.deepEqual(keys('echo $(git log; date) done\\;x'), ['echo $(git log; date) done;x']);
  assert.deepEqual(keys('for f in a b; do npm test; done'), ['npm test']);
});

test('a command decides the exit status when only && follows and nothing is piped', () => {
  const decides = (line: string) => simpleCommands(line).map((simple) => simple.decides);
  assert.deepEqual(decides('a && b && c'), [true, true, true]);
  assert.deepEqual(decides('a && b; c'), [false, false, true]);
  assert.deepEqual(decides('a || b'), [false, true]);
  assert.deepEqual(decides('a | tail -3'), [false]);
  assert.deepEqual(decides('a && b | tail -3'), [true, false]);
  assert.deepEqual(decides('a;\n'), [true]);
  assert.deepEqual(decides('for i in 1 2 3; do a; b; done'), [false, true], 'a loop ends as its last command does');
  assert.deepEqual(decides('a; done.sh'), [false, true]);
});

test('an output speaks for its command only where it is shown to its end', () => {
  const shown = (line: string) => simpleCommands(line).map((simple) => simple.shown);
  assert.deepEqual(shown('a | tail -3'), [true]);
  assert.deepEqual(shown('a 2>&1 | tee log | cat'), [true]);
  assert.deepEqual(shown('a 2>&1 | head -3'), [false]);
  assert.deepEqual(shown('a; b | grep -c x | tail -1'), [true, false]);
  assert.deepEqual(shown('a > /dev/null 2>&1; b >>log; c 2>errors'), [false, false, true]);
  assert.deepEqual(shown("bash -c 'a; b' | head"), [false, false]);
});

test('looking proves nothing, acting changes something, the rest checks', () => {
  assert.deepEqual(purposes('cat a; ls; grep x y; git status; node --version; npx jest --help; head -3 x'), [
    'cat look',
    'ls look',
    'grep look',
    'git look',
    'node look',
    'npx look',
    'head look',
  ]);
  assert.deepEqual(purposes('rm -r x; git push; npm ci; pip install x; curl https://example.test'), [
    'rm act',
    'git act',
    'npm act',
    'pip act',
    'curl act',
  ]);
  assert.deepEqual(purposes('npm test; go vet ./...; ./deploy.sh; cargo build'), [
    'npm check',
    'go check',
    'deploy.sh check',
    'cargo check',
  ]);
});

test('tests, linters, type checkers and builds are told apart by the words that tool makers use', () => {
  const kind = (line: string) => simpleCommands(line)[0]?.kind;
  for (const line of [
    'npm test',
    'node --test',
    'python3 -m unittest',
    'go test ./...',
    'mise run test:ci',
    'npx vitest run',
  ])
    assert.equal(kind(line), 'test', line);
  for (const line of ['npm run lint', 'golangci-lint run', 'cargo clippy']) assert.equal(kind(line), 'lint', line);
  for (const line of ['npx tsc -p .', 'mypy src']) assert.equal(kind(line), 'types', line);
  for (const line of ['docker build .', 'make all']) assert.equal(kind(line), 'build', line);
  assert.equal(kind('./deploy.sh latest'), null);
});

test('work is taken back by a checkout of files, not by a new branch', () => {
  const back = (line: string) => simpleCommands(line).some((simple) => simple.takesBack);
  for (const line of [
    'git checkout -- a.ts',
    'git restore a.ts',
    'git reset --hard',
    'git -C x revert HEAD',
    'git stash',
  ])
    assert.equal(back(line), true, line);
  for (const line of ['git checkout -q -b feat/x', 'git stash pop', 'git commit -m restore', 'echo git reset'])
    assert.equal(back(line), false, line);
});

test('an open quote, an empty line and a very long one are read without harm', () => {
  assert.deepEqual(keys(''), []);
  assert.deepEqual(keys(' && | ; \n'), []);
  assert.deepEqual(keys('echo "open'), ['echo open']);
  assert.equal(simpleCommands(`x ${'y; '.repeat(100_000)}`).length < 1_000, true);
  assert.deepEqual(keys('sh -c \'sh -c "sh -c ls"\'').length, 1);
});
