import { openJournal } from '../../scripts/model/journal.ts';

// Begins the subjects named after the folder, ends the first, and is killed by the system's hardest signal.
const [folder = '', ...subjects] = process.argv.slice(2);
const journal = openJournal(folder, (text) => text);
for (const subject of subjects) journal.begin(subject, 'key');
journal.end(subjects[0] ?? '');
process.kill(process.pid, 'SIGKILL');
