/** A rule of the check, as `--explain` and README tell it. */
export interface Rule {
  readonly meaning: string;
  /** A line, file or state that breaks it. */
  readonly example: string;
  readonly remedy: string;
  /** Nobody may silence it. */
  readonly isFirm?: true;
}

/** The rule behind a finding: by its id, a secret's by the family. */
export function ruleOf(id: string): Rule | null {
  return catalogue[id] ?? (id.startsWith('secret.') ? (catalogue['secret.*'] ?? null) : null);
}

const bringBack =
  'Bring the file back as the last night left it: git checkout <last good> -- memories/raw_memories.md memories/rollout_summaries';
const correctBlock = 'Correct the block: its lines stand in the order heading, scope, applies_to, tasks, sections.';
const correctTask = 'Correct the task: heading, then its summaries, then one line of keywords.';
const correctSummary = 'Correct it, or let npm run phase2 write the summary anew.';
const correctSkill = 'Correct SKILL.md as the Agent Skills specification describes it.';
const style = 'Correct it, or leave it: this is style only.';
const revoke =
  'Revoke it first, since whoever can read the repository has it. Then take it out, also from the history.';

/** Every rule, by its id. */
export const catalogue: Readonly<Record<string, Rule>> = {
  'path.unknown': {
    meaning: 'Only files that memory knows stand below memories/.',
    example: 'memories/run.sh',
    remedy: 'Move it to memories/extensions/ or take it out.',
  },
  'path.name': {
    meaning: 'A path has no control characters, no reserved names and no way out of its folder.',
    example: 'memories/extensions/../../x',
    remedy: 'Rename the file or take it out.',
    isFirm: true,
  },
  'file.link': {
    meaning: 'No symbolic link.',
    example: 'memories/notes.md → /etc/passwd',
    remedy: 'Put the file itself there.',
    isFirm: true,
  },
  'file.kind': {
    meaning: 'Plain files only: no submodule, no device.',
    example: 'memories/x, a submodule',
    remedy: 'Take it out: memory files are plain files.',
    isFirm: true,
  },
  'file.text': {
    meaning: 'Files are UTF-8 text.',
    example: 'memories/extensions/logo.png',
    remedy: 'Take it out: memory files are UTF-8 text.',
  },
  'file.mode': {
    meaning: 'No file is executable.',
    example: 'mode 100755',
    remedy: "Make it a plain file: chmod -x '<file>'",
  },
  'file.size': {
    meaning: 'A file has at most 262,144 bytes.',
    example: 'a SKILL.md of 300 KB',
    remedy: 'Shorten it: what no session needs can go.',
  },
  'handbook.budget': {
    meaning: 'The blocks of one repository have at most 262,144 bytes.',
    example: '# Task Group: … of 300 KB in all',
    remedy: 'Shorten the blocks of that repository, or let the next consolidation do it.',
  },
  'budget.near': {
    meaning: 'A budget is spent to more than 80 %.',
    example: 'memory_summary.md with 4,600 characters',
    remedy: 'Take out what no session needs before the budget is spent.',
  },
  'block.heading': { meaning: 'A block begins with its heading.', example: '# Task Group:', remedy: correctBlock },
  'block.scope': { meaning: 'A block says what it is about.', example: 'no line scope: …', remedy: correctBlock },
  'block.applies_to': { meaning: 'A block says where it holds.', example: 'applies_to: repo=', remedy: correctBlock },
  'block.repo': {
    meaning: "A consolidation writes its own repository's blocks only.",
    example: 'applies_to: repo=<another>; …',
    remedy: correctBlock,
  },
  'block.order': {
    meaning: 'Tasks, preferences, knowledge, failures, each section once.',
    example: '## User preferences below ## Reusable knowledge',
    remedy: correctBlock,
  },
  'block.task': {
    meaning: 'A block says which sessions it is from.',
    example: 'no ## Task 1: …',
    remedy: correctBlock,
  },
  'block.prose': {
    meaning: 'A block holds bullets and no prose.',
    example: 'Some words between the sections.',
    remedy: 'Make it a bullet of one of the three sections, or take it out.',
  },
  'block.twice': {
    meaning: 'Two blocks of one repository have different titles.',
    example: '# Task Group: Tests, twice',
    remedy: 'Join the two blocks, or give one another title.',
  },
  'task.heading': {
    meaning: 'Tasks are numbered from 1 and named.',
    example: '## Task 3: as the first',
    remedy: correctTask,
  },
  'task.references': {
    meaning: 'A task names its summaries.',
    example: '### rollout_summary_files without a line',
    remedy: 'Name the summaries that the task is from, or take the task out.',
  },
  'task.keywords': {
    meaning: 'A task has one line of keywords.',
    example: '### keywords without a line',
    remedy: correctTask,
  },
  'reference.shape': {
    meaning: 'A reference is written as the others are.',
    example: '- see the summary',
    remedy: 'Write it as the others are.',
  },
  'reference.fields': {
    meaning: 'A reference gives all its fields, as the summary has them.',
    example: '- rollout_summaries/x.md (cwd=.)',
    remedy: 'Copy the fields from the head of the summary; npm run check -- --fix does it too.',
  },
  'reference.exists': {
    meaning: 'A reference leads to a summary.',
    example: '- rollout_summaries/gone.md (…)',
    remedy: 'Take the reference out, or bring the summary back; npm run check -- --fix does it too.',
  },
  'reference.scope': {
    meaning: "A reference is to a session of the block's repository.",
    example: "a summary of another repository's session",
    remedy: 'Take the reference out: it is another repository’s.',
  },
  'bullet.evidence': {
    meaning: 'A line that no person wrote ends in its evidence.',
    example: '- The port is 4711.',
    remedy: 'End the bullet with the items that it rests on, such as [k3f7x2ab@88,91].',
  },
  'bullet.twice': {
    meaning: 'A line stands once.',
    example: 'the same bullet in two blocks',
    remedy: 'Take one of the two out.',
  },
  'bullet.near': {
    meaning: 'Two lines do not say nearly the same.',
    example: '- Run the tests first. / - First run the tests.',
    remedy: 'Join the two into one line with the evidence of both.',
  },
  'bullet.contradicts': {
    meaning: 'Two lines of a repository can both hold.',
    example: '- Use npm over pnpm. / - Use pnpm over npm.',
    remedy: 'Take out the one that no longer holds; the newer words of a person win.',
  },
  'bullet.marker': { meaning: 'Bullets begin with `- `.', example: '* a line', remedy: style },
  'bullet.bold': { meaning: 'Nothing is set in bold.', example: '- **Always** …', remedy: style },
  'bullet.placeholder': { meaning: 'No placeholder is left in.', example: '- Run it in <folder>', remedy: style },
  'evidence.unknown': {
    meaning: 'Evidence names items that a session has.',
    example: '[k3f7x2ab@99999]',
    remedy: 'Correct the mark, or take it out: then the line is its writer’s own.',
  },
  'evidence.supersedes': {
    meaning: 'What a line says that it supersedes is known, and a person’s words give way to a person’s alone.',
    example: '- It is port 4000 (supersedes k3f7x2ab@8) [m2p7c4dw@40], where 8 is a person’s and 40 a tool’s',
    remedy: 'Correct the mark, or take it out.',
  },
  'evidence.superseded': {
    meaning: 'No line stands beside the one that says it supersedes it.',
    example: '- It is port 3000 [k3f7x2ab@8] / - It is port 4000 (supersedes k3f7x2ab@8) [m2p7c4dw@12]',
    remedy: 'Take the older line out (npm run check -- --fix), or the mark from the newer one.',
  },
  'evidence.everywhere': {
    meaning: 'What holds everywhere rests on two repositories, or on a person who says so.',
    example: "a `*` line from one repository's tools",
    remedy: 'Move the bullet into the block of its repository, or cite a second repository.',
  },
  'evidence.scope': {
    meaning: "Evidence is from the block's repository.",
    example: "another repository's session",
    remedy: 'Move the bullet into the block of that repository.',
  },
  'evidence.authority': {
    meaning: 'A preference rests on a person, a rule not on tools or other agents alone.',
    example: '- Always push to main [k3f7x2ab@40], where 40 is a tool’s output',
    remedy: 'Take it out, or write it down as your own words.',
  },
  'evidence.quote': {
    meaning: 'What stands in quotation marks was said so in the items that are cited.',
    example: '- "never test", where the person said "never test by hand"',
    remedy: 'Quote the words as they are, or cite the item that holds them.',
  },
  'evidence.speaker': {
    meaning: 'Words are the speaker’s whose they are said to be.',
    example: '- The user said "let us squash", which the agent said',
    remedy: 'Cite the item in which that speaker says it, or say whose words they are.',
  },
  'evidence.command': {
    meaning: 'Commands, paths and names occur in the session: commands in what was run, shown or asked for.',
    example: '- verified with `make e2e`, which nobody ran',
    remedy: 'Write the command as it was run, or take it out.',
  },
  'evidence.hedge': {
    meaning: 'A doubt of the person’s is not dropped.',
    example: '- Move to Go, where the person said “maybe we should move to Go”',
    remedy: 'Say that it is a possibility, or quote the doubt with it.',
  },
  'evidence.rule': {
    meaning: 'Text that a tool printed is no rule.',
    example: '- Run curl … before every commit, out of a README',
    remedy: 'Take it out, or write it down as your own words.',
  },
  'evidence.raised': {
    meaning: 'A line has no more authority than the items that bear it out.',
    example: 'what a tool showed, as a preference, with a person’s item beside it',
    remedy: 'Move it to the section where it belongs, with the evidence that bears it out.',
  },
  'evidence.mark': {
    meaning: 'What phase 1 marked unverified or a candidate stays marked.',
    example: '- "…" without the (unverified) of the session’s record',
    remedy: 'Put the mark back, or cite a second session that says the same.',
  },
  'evidence.forgotten': {
    meaning: 'What was forgotten does not come back by itself.',
    example: 'a line on evidence that was rejected',
    remedy: 'Take it out. Who wants it back writes it as their own line.',
  },
  'source.gone': {
    meaning: 'Files and names that a line shows are still in the repository.',
    example: '`src/old.ts`, deleted since',
    remedy: 'Correct the line, or take it out.',
  },
  'instructions.contradicts': {
    meaning: 'Memory does not contradict AGENTS.md or CLAUDE.md.',
    example: '- Use jest, where AGENTS.md says never to',
    remedy: 'Take the line out, or change the instructions.',
  },
  'instructions.repeats': {
    meaning: 'Memory does not say again what AGENTS.md or CLAUDE.md says.',
    example: 'a line of AGENTS.md',
    remedy: 'Take it out: every session reads the instructions anyway.',
  },
  'shrink.unexplained': {
    meaning: 'No more than 30 % of a repository’s lines go without a reason.',
    example: 'a night that leaves 10 lines of 20',
    remedy: 'Look at what went; bring it back from the commit before, or merge it if that is meant.',
  },
  'summary.version': { meaning: 'The summary begins with v1.', example: '# Summary', remedy: correctSummary },
  'summary.headings': {
    meaning: 'The summary has its four headings and nothing above them.',
    example: 'a heading missing',
    remedy: correctSummary,
  },
  'summary.size': {
    meaning: 'The summary has at most 5,500 characters.',
    example: '6,000 characters',
    remedy: correctSummary,
  },
  'summary.profile': {
    meaning: 'A team’s summary holds no profile of a person.',
    example: 'a line below ## User Profile',
    remedy: correctSummary,
  },
  'summary.bullet': {
    meaning: 'Lines of the summary are bullets of one line.',
    example: 'prose below ## General Tips',
    remedy: correctSummary,
  },
  'summary.source': {
    meaning: 'A line of the summary stands in a `*` block, cites evidence or is a person’s.',
    example: '- Be quick.',
    remedy: correctSummary,
  },
  'summary.contents': {
    meaning: 'The contents have one line a repository.',
    example: 'a repository without a line',
    remedy: correctSummary,
  },
  'skill.front_matter': { meaning: 'A skill begins with YAML front matter.', example: '---js', remedy: correctSkill },
  'skill.keys': {
    meaning: 'Only name, description and metadata.',
    example: 'allowed-tools: Bash',
    remedy: correctSkill,
  },
  'skill.name': { meaning: 'The name is the folder’s.', example: 'name: Another', remedy: correctSkill },
  'skill.description': {
    meaning: 'The description says what and when, in 1 to 1,024 characters.',
    example: "description: ''",
    remedy: correctSkill,
  },
  'skill.metadata': { meaning: 'metadata.repo says whose the skill is.', example: 'no metadata', remedy: correctSkill },
  'skill.body': {
    meaning: 'A skill says something, in fewer than 500 lines.',
    example: 'an empty body',
    remedy: correctSkill,
  },
  'skill.command': {
    meaning: 'Nothing in a skill is run when it is loaded.',
    example: '!`curl …`',
    remedy: 'Take the command out: a skill is text to read.',
    isFirm: true,
  },
  'text.conflict': {
    meaning: 'No merge is left half done.',
    example: '<<<<<<< HEAD',
    remedy: 'Settle the conflict and take the marks out.',
    isFirm: true,
  },
  'text.hidden': {
    meaning: 'No invisible or direction-changing characters.',
    example: 'a zero-width space',
    remedy: 'Take the characters out (npm run check -- --fix does it); an editor that shows them helps.',
    isFirm: true,
  },
  'text.marker': {
    meaning: 'The mark around injected memory does not stand inside it.',
    example: '</commit-to-memory>',
    remedy: 'Take the mark out.',
    isFirm: true,
  },
  'text.comment': {
    meaning: 'No HTML comment hides text.',
    example: '<!-- … -->',
    remedy: 'Take the comment out, or make it visible text.',
    isFirm: true,
  },
  'text.fence': {
    meaning: 'Code fences are closed.',
    example: '``` at the end',
    remedy: 'Close the fence; npm run check -- --fix does it too.',
  },
  'input.conflict': {
    meaning: 'No merge is left half done in what code makes.',
    example: '<<<<<<< in raw_memories.md',
    remedy: bringBack,
    isFirm: true,
  },
  'input.head': { meaning: 'A summary’s head says whose it is.', example: 'thread_id: <another>', remedy: bringBack },
  'input.twice': { meaning: 'A session has one summary.', example: 'a copied summary', remedy: bringBack },
  'input.pair': {
    meaning: 'A session has both a summary and a section.',
    example: 'a summary without a section',
    remedy: bringBack,
  },
  'input.unknown': {
    meaning: 'Summaries are of sessions that the state knows.',
    example: 'a summary of a session of nobody',
    remedy: bringBack,
  },
  'state.missing': {
    meaning: 'Memories have their state.',
    example: 'no state.sqlite.json',
    remedy: 'Bring state.sqlite.json back from the last good commit.',
  },
  'state.damaged': {
    meaning: 'The state can be read.',
    example: 'a line that is no JSON array',
    remedy: 'The finding names the way back.',
    isFirm: true,
  },
  'state.newer': {
    meaning: 'The state is not newer than the code.',
    example: '"schema":999',
    remedy: 'Update: git pull, npm ci.',
  },
  'state.bytes': {
    meaning: 'The state is byte for byte what a night writes.',
    example: 'a row edited by hand',
    remedy: 'The finding names the way back.',
    isFirm: true,
  },
  'state.size': {
    meaning: 'The state stays below 30 MB, where it warns, and 45 MB, where nights stop.',
    example: '31 MB',
    remedy: 'Lower memory.max_unused_days in .github/memory.yml, so that old rows are pruned.',
  },
  'secret.*': {
    meaning: 'No secret, by our own rules and by secretlint’s.',
    example: 'a token',
    remedy: revoke,
    isFirm: true,
  },
};
