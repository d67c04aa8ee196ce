import { isRepositoryPattern } from '../shared/config.ts';
import { UsageError } from '../shared/errors.ts';
import type { Flags } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type Agreement, authorForm, type Consent, formatConsent, parseConsent } from './consent.ts';
import type { Laptop } from './laptop.ts';
import { readOwn, writeOwn } from './laptop-file.ts';

/** What `--init` is about. */
export interface Offer {
  readonly memory: string;
  /** `include` of the repository's configuration; empty where only its address is known. */
  readonly include: readonly string[];
  readonly retentionDays: number;
}

/**
 * Writes what this laptop allows for one memory repository, and leaves the others' as they are. Asks on a terminal, or
 * takes the flags as answers with `--yes`.
 * @returns what was written, for the person.
 * @throws UsageError without a terminal and without `--yes`, and for answers that cannot be right; nothing is written.
 */
export async function init({ flags, ask, log, self }: World, laptop: Laptop, offer: Offer): Promise<string> {
  const text = await readOwn(laptop.consent);
  const before = text === null ? null : parseConsent(text, laptop.consent);
  const standing = before?.agreements.find(({ memory }) => memory === offer.memory);
  if (!flags.isOn('yes') && ask === null)
    throw new UsageError(
      'collect --init asks questions, and there is no terminal to answer at.',
      'Answer with flags: npm run collect -- --init --yes --include <host/owner/name> [--private] [--author <name>]',
    );
  const answers =
    flags.isOn('yes') || ask === null
      ? answersIn(flags)
      : await answersOf(ask, log.info, offer, standing, before?.author ?? null, flags);
  if (answers === null) return 'Nothing was written; nothing will be sent.';
  const consent: Consent = {
    salt: before?.salt ?? sha256(self.token).slice(0, 32),
    author: answers.author ?? before?.author ?? null,
    optOut: before?.optOut ?? [],
    ...(before?.optOutWord === undefined ? {} : { optOutWord: before.optOutWord }),
    agreements: [
      ...(before?.agreements ?? []).filter(({ memory }) => memory !== offer.memory),
      { memory: offer.memory, ...answers.agreement },
    ],
  };
  await writeOwn(laptop.consent, formatConsent(consent));
  return [
    `Written: ${laptop.consent}`,
    `Sessions of ${answers.agreement.include.join(', ')} may be sent to ${offer.memory}.`,
    'See what would leave this machine: npm run collect -- --dry-run',
  ].join('\n');
}

interface Answers {
  readonly agreement: Omit<Agreement, 'memory'>;
  readonly author: string | null;
}

function answersIn(flags: Flags): Answers {
  const include = flags.listOf('include');
  if (include.length === 0)
    throw new UsageError('--yes allows nothing by itself.', 'Say what may be sent: --include <host/owner/name>.');
  return checked(include, flags.valueOf('author') ?? '', flags.isOn('private'), flags.isOn('allow-public'));
}

async function answersOf(
  ask: (question: string) => Promise<string>,
  say: (text: string) => void,
  { memory, include, retentionDays }: Offer,
  standing: Agreement | undefined,
  author: string | null,
  flags: Flags,
): Promise<Answers | null> {
  const given = flags.listOf('include');
  const proposed = given.length > 0 ? given : (standing?.include ?? include);
  say(explanation(memory, retentionDays));
  const list = await ask(`Repositories whose sessions may be sent [${proposed.join(' ') || 'none'}]: `);
  const chosen = list.trim() === '' ? proposed : list.trim().split(/[\s,]+/);
  if (chosen.length === 0) return null;
  const name = await ask(
    `Your name in these sessions [${author ?? 'by git’s user.email and the team’s list, else a pseudonym'}]: `,
  );
  const isPrivate = flags.isOn('private') || isYes(await ask(`Is ${memory} private, and no fork? [y/N]: `));
  const isSure = isYes(await ask(`Allow ${chosen.join(' ')} for ${memory}? [y/N]: `));
  return isSure ? checked(chosen, name.trim(), isPrivate, flags.isOn('allow-public')) : null;
}

function explanation(memory: string, retentionDays: number): string {
  return [
    `collect sends sessions of coding agents from this machine to ${memory}, where your team and its nightly job read them.`,
    'A session holds what you and the agent wrote, commands and their output. Known forms of secrets, your home folder and',
    `your user name are removed first; nothing can promise that every secret is known. After ${retentionDays} days sessions are dropped.`,
    'Only repositories that you name here and that the team’s configuration includes are sent. Try --dry-run and --show first.',
  ].join('\n');
}

function checked(include: readonly string[], author: string, isPrivate: boolean, allowPublic: boolean): Answers {
  const wrong = include.find((pattern) => !isRepositoryPattern(pattern));
  if (wrong !== undefined)
    throw new UsageError(
      `“${wrong.slice(0, 80)}” is no repository.`,
      'Write host/owner/name, or host/owner/* for all of an owner.',
    );
  if (author !== '' && !authorForm.test(author))
    throw new UsageError(
      `“${author.slice(0, 80)}” cannot be a name in sessions.`,
      'Use one word: letters, digits and . _ + -',
    );
  return {
    agreement: { include: [...new Set(include)], allowPublic, isPrivate },
    author: author === '' ? null : author,
  };
}

function isYes(answer: string): boolean {
  return /^(y|yes)$/i.test(answer.trim());
}
