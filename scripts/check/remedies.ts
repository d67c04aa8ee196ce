/** What to do about a broken rule of memory files: by the rule's name, else by its first part. */
export function remedyOf(rule: string): string {
  return byRule[rule] ?? byRule[rule.split('.')[0] ?? ''] ?? 'Correct the line.';
}

const bringBack = 'Bring the file back as the last night left it: git checkout <last good> --';

const byRule: Readonly<Record<string, string>> = {
  'path.unknown': 'Move it to memories/extensions/ or take it out.',
  'file.size': 'Shorten it: what no session needs can go.',
  'handbook.budget': 'Shorten the blocks of that repository, or let the next consolidation do it.',
  'block.prose': 'Make it a bullet of one of the three sections, or take it out.',
  'block.twice': 'Join the two blocks, or give one another title.',
  block: 'Correct the block: its lines stand in the order heading, scope, applies_to, tasks, sections.',
  'task.references': 'Name the summaries that the task is from, or take the task out.',
  task: 'Correct the task: heading, then its summaries, then one line of keywords.',
  'reference.exists': 'Take the reference out, or bring the summary back; npm run phase2 repairs it too.',
  'reference.fields': 'Copy the fields from the head of the summary; npm run phase2 repairs it too.',
  'reference.scope': 'Take the reference out: it is another repository’s.',
  reference: 'Write it as the others are.',
  'bullet.evidence': 'End the bullet with the items that it rests on, such as [k3f7x2ab@88,91].',
  'bullet.twice': 'Take one of the two out.',
  bullet: 'Correct it, or leave it: this is style only.',
  'evidence.unknown': 'Correct the mark, or take it out: then the line is its writer’s own.',
  'evidence.everywhere': 'Move the bullet into the block of its repository, or cite a second repository.',
  'evidence.scope': 'Move the bullet into the block of that repository.',
  'evidence.authority': 'Take it out, or write it down as your own words.',
  evidence: 'Correct the evidence.',
  summary: 'Correct it, or let npm run phase2 write the summary anew.',
  'skill.command': 'Take the command out: a skill is text to read.',
  skill: 'Correct SKILL.md as the Agent Skills specification describes it.',
  'text.conflict': 'Settle the conflict and take the marks out.',
  'text.hidden': 'Take the characters out; an editor that shows them helps.',
  'text.comment': 'Take the comment out, or make it visible text.',
  'text.fence': 'Close the fence.',
  input: `${bringBack} memories/raw_memories.md memories/rollout_summaries`,
};
