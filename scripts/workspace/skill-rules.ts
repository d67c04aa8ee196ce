import { parseFrontMatter } from '../shared/front-matter.ts';
import type { Scope } from './layout.ts';
import { skillOf } from './layout.ts';
import { metadataOf } from './skill.ts';
import { textViolations } from './text-rules.ts';
import { error, type Violation } from './violation.ts';

const maxBodyLines = 500;

/**
 * The rules of a `SKILL.md`: the Agent Skills specification, and less than it allows, since a skill that a session
 * taught must not bring code, tools or text that is run when it is loaded.
 * @source agentskills.io specification
 */
export function skillViolations(path: string, text: string, scope: Scope | null): Violation[] {
  const spot = { path, block: null };
  const front = parseFrontMatter(text);
  if (front.outcome === 'wrong') return [error(spot, front.line, 'skill.front_matter', sentence(front.message))];
  if (!front.present)
    return [error(spot, 1, 'skill.front_matter', 'The skill must begin with front matter between two lines of ---.')];
  const found = [...textViolations(spot, text)];
  const say = (key: string, rule: string, message: string) => found.push(error(spot, front.lineOf(key), rule, message));
  const { name, description } = front.data;
  for (const key of Object.keys(front.data)) {
    if (!['name', 'description', 'metadata'].includes(key))
      say(key, 'skill.keys', `Only name, description and metadata are allowed, not ${key}.`);
  }
  if (typeof name !== 'string' || !/^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))
    say('name', 'skill.name', 'The name is 1 to 64 of a-z, 0-9 and single hyphens between them.');
  else if (name !== skillOf(path)) say('name', 'skill.name', `The name must be the folder’s: ${skillOf(path) ?? ''}.`);
  if (typeof description !== 'string' || description.trim() === '' || description.length > 1024)
    say(
      'description',
      'skill.description',
      'The description is 1 to 1024 characters: what it does and when to use it.',
    );
  const metadata = metadataOf(front);
  const repo = metadata?.repo;
  if (
    typeof repo !== 'string' ||
    repo === '' ||
    Object.values(metadata ?? {}).some((value) => typeof value !== 'string')
  )
    say('metadata', 'skill.metadata', 'metadata holds texts only, and its repo says whose the skill is.');
  else if (scope !== null && repo !== scope) say('metadata', 'skill.metadata', `metadata.repo must be ${scope}.`);
  return [...found, ...bodyViolations(path, front.body, front.bodyLine)];
}

function bodyViolations(path: string, body: string, firstLine: number): Violation[] {
  const spot = { path, block: null };
  const lines = body.split('\n');
  const found = lines.flatMap((line, index) =>
    /!`|^[ \t]{0,12}`{3,}!/.test(line)
      ? [
          error(
            spot,
            firstLine + index,
            'skill.command',
            'Text after ! in back quotes is run when the skill is loaded.',
          ),
        ]
      : [],
  );
  if (body.trim() === '') found.push(error(spot, firstLine, 'skill.body', 'The skill says nothing.'));
  if (lines.length >= maxBodyLines)
    found.push(error(spot, firstLine, 'skill.body', `The body must be shorter than ${maxBodyLines} lines.`));
  return found;
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
