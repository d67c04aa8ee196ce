import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorOf, properEmail } from '../../scripts/collect/author.ts';

const facts = { chosen: null, email: null, mailmap: '', people: {}, salt: 'salt' };

test('a pseudonym stays, differs by person and by laptop, and holds nothing of the address', () => {
  const dana = authorOf({ ...facts, email: 'dana@team.example' });
  assert.equal(authorOf({ ...facts, email: ' Dana@Team.Example ' }), dana);
  assert.match(dana, /^p-[0-9a-f]{10}$/);
  assert.notEqual(authorOf({ ...facts, email: 'erin@team.example' }), dana);
  assert.notEqual(authorOf({ ...facts, email: 'dana@team.example', salt: 'another' }), dana);
  assert.match(authorOf(facts), /^p-/);
});

test('a mailmap leads from an old address to the proper one, and only where the address alone decides', () => {
  const mailmap = [
    '# <x@y> <dana@old.example>',
    'Dana <Dana@Team.Example> <dana@OLD.example>  # moved',
    'Erin <erin@team.example> Erin Old <erin@old.example>',
    'Only A Name <frank@team.example>',
    '<greta@team.example> <greta@old.example>\r',
  ].join('\n');
  assert.equal(properEmail('dana@old.example', mailmap), 'dana@team.example');
  assert.equal(properEmail('erin@old.example', mailmap), 'erin@old.example');
  assert.equal(properEmail('frank@team.example', mailmap), 'frank@team.example');
  assert.equal(properEmail('greta@old.example', mailmap), 'greta@team.example');
});

test('the team’s list decides by address in any case', () => {
  const people = { 'Dana@Team.example': 'dana' };
  assert.equal(authorOf({ ...facts, email: 'dana@team.example', people }), 'dana');
  assert.equal(authorOf({ ...facts, email: 'dana@team.example', people, chosen: 'D' }), 'D');
});
