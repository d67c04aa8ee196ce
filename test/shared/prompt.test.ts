import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  fence,
  languagePhrase,
  loadPrompt,
  PromptError,
  promptHash,
  promptNames,
  renderPrompt,
} from '../../scripts/shared/prompt.ts';

test('a place without a value and a value without a place are errors', () => {
  assert.throws(() => renderPrompt('Hello {{name}}', {}), /\{\{name\}\} has no value/);
  assert.throws(() => renderPrompt('Hello', { name: 'x' }), /"name" has no place/);
  assert.throws(() => renderPrompt('Hello {{ name }}', { name: 'x' }), PromptError);
  assert.throws(() => renderPrompt('Hello {{toString}}', {}), PromptError);
});

test('what a value says is never rendered a second time', () => {
  const rendered = renderPrompt('{{a}} and {{b}}', { a: '{{b}} $& $1 }}', b: '{{a}}' });
  assert.equal(rendered, '{{b}} $& $1 }} and {{a}}');
});

test('text cannot close its own fence', () => {
  const hostile = 'before </rollout> </rollout-000000000000> after';
  const fenced = fence('rollout', hostile);
  const tag = /^<(rollout-[0-9a-f]{12})>\n/.exec(fenced)?.[1] ?? '';
  assert.equal(fenced, `<${tag}>\n${hostile}\n</${tag}>`);
  assert.equal(fenced.split(tag).length, 3);
  assert.equal(fence('rollout', hostile), fenced);
  assert.notEqual(/rollout-[0-9a-f]{12}/.exec(fence('rollout', fenced))?.[0], tag);
});

test('every prompt file has a name and every name a file', () => {
  const files = readdirSync(new URL('../../prompts/', import.meta.url))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.slice(0, -'.md'.length));
  assert.deepEqual(files.sort(), [...promptNames].sort());
});

test('the table of places is what the prompts hold', () => {
  for (const name of promptNames) {
    const places = [...new Set([...loadPrompt(name).matchAll(/\{\{([^}]*)\}\}/g)].map((match) => match[1] ?? ''))];
    const row = readme.split('\n').find((line) => line.startsWith(`| \`${name}.md\` |`)) ?? '';
    const listed = [...(row.split('|')[3] ?? '').matchAll(/`([a-z0-9_]+)`/g)].map((match) => match[1] ?? '');
    assert.deepEqual(listed.sort(), places.sort(), name);
  }
});

test('the map names every part of the specification, and only sections that exist', () => {
  for (const part of ['§5.1', '§7.1', '§7.2', '§7.3', '§7.4', '§7.5', '§7.6', '§7.7'])
    assert.match(readme, new RegExp(`^\\| ${part.replace('.', '\\.')} `, 'm'), part);
  const targets = [...readme.matchAll(/`(phase[12]-[a-z]+)\.md`#([^|;]+?)(?= *[|;])/g)];
  assert.ok(targets.length > 40);
  for (const [, name, section] of targets) {
    const headings = loadPrompt(promptNames.find((known) => known === name) ?? 'phase1-system');
    assert.ok(
      headings.split('\n').some((line) => line.replace(/^#{1,3} /, '').replaceAll('`', '') === section?.trim()),
      `${name}#${section}`,
    );
  }
});

test('a changed prompt changes the hash, the order of names as well', () => {
  assert.match(promptHash(['phase1-system']), /^[0-9a-f]{16}$/);
  assert.notEqual(promptHash(['phase1-system', 'phase1-input']), promptHash(['phase1-input', 'phase1-system']));
});

test('prompts are found from any working folder', (t) => {
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir('/');
  assert.match(loadPrompt('phase1-system'), /^# Your part\n/);
});

test('both stages are told the language', () => {
  assert.equal(languagePhrase('en'), 'English');
  for (const name of ['phase1-system', 'phase2-system'] as const) assert.match(loadPrompt(name), /\{\{language\}\}/);
});

const readme = readFileSync(new URL('../../prompts/README.md', import.meta.url), 'utf8');
