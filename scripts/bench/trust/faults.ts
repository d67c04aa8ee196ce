import type { Line } from '../../workspace/verdicts.ts';
import type { Witness } from './corpus.ts';
import type { Lots } from './lots.ts';
import {
  another,
  at,
  doubtOf,
  gap,
  holds,
  itemOf,
  observed,
  personsQuote,
  printedRule,
  quoted,
  replaced,
  sentenceOf,
  sharesWord,
  swapped,
  withCode,
  withQuote,
} from './picks.ts';

export const faultKinds = [
  'changed quote',
  'wrong speaker',
  'invented command',
  "other thread's quote",
  'hedge dropped',
  'tool text as a rule',
  'raised authority',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** A line with one fault, and the session that it is laid at. */
export interface Planted {
  readonly kind: FaultKind;
  readonly how: string;
  readonly line: Line;
  readonly witness: Witness;
}

/** Up to `count` faults of a kind, the ways of planting it in turn; none of them asks the code that is to find it. */
export function plant(kind: FaultKind, witnesses: readonly Witness[], count: number, lots: Lots): Planted[] {
  const ways = Object.entries(planters[kind]);
  const found: Planted[] = [];
  const seen = new Set<string>();
  for (let attempt = 0; found.length < count && attempt < count * 60; attempt += 1) {
    const [how, planter] = ways[attempt % ways.length] ?? [];
    const witness = lots.of(witnesses);
    const line = planter?.(witness, lots, witnesses) ?? null;
    const key = JSON.stringify([how, witness.thread, line]);
    if (line === null || how === undefined || seen.has(key)) continue;
    seen.add(key);
    found.push({ kind, how, line, witness });
  }
  return found;
}

type Planter = (witness: Witness, lots: Lots, all: readonly Witness[]) => Line | null;

const planters: Readonly<Record<FaultKind, Readonly<Record<string, Planter>>>> = {
  'changed quote': {
    'a word replaced': (witness, lots) =>
      withQuote(witness, lots, (words) => replaced(words, lots, () => lots.of(otherWords[witness.language]))),
    'a word left out': (witness, lots) => withQuote(witness, lots, (words) => replaced(words, lots, () => null)),
    'a word put in': (witness, lots) =>
      withQuote(witness, lots, (words) =>
        replaced(words, lots, (word) => `${word}${gap(word)}${lots.of(otherWords[witness.language])}`),
      ),
    'two words swapped': (witness, lots) => withQuote(witness, lots, (words) => swapped(words, lots)),
    'the negation left out': (witness, lots) =>
      withQuote(witness, lots, (words) =>
        words.replace(/\b(?:never|do not|don't|no(?!,)|niemals|nicht|jamais|pas de)\b ?|永远不要|不要/i, ''),
      ),
    'a number changed': (witness, lots) =>
      withQuote(witness, lots, (words) => words.replace(/\d+/, (number) => String(Number(number) + 1 + lots.below(9)))),
  },
  'wrong speaker': {
    "a person's words laid at a tool's item": (witness, lots) => {
      const line = personsQuote(witness, lots);
      const other = itemOf(witness, lots, ({ who }) => who === 'tool');
      return line && other && !holds(other, line.text) ? { ...line, evidence: at(witness, [other]) } : null;
    },
    "a person's words laid at the agent's item": (witness, lots) => {
      const line = personsQuote(witness, lots);
      const other = itemOf(witness, lots, ({ who }) => who === 'assistant' || who === 'commentary');
      return line && other && !holds(other, line.text) ? { ...line, evidence: at(witness, [other]) } : null;
    },
    "the agent's words as a person's preference": (witness, lots) => {
      const words = sentenceOf(witness, lots, ({ who }) => who === 'assistant');
      const person = itemOf(witness, lots, ({ who }) => who === 'human');
      return words && person
        ? { section: 'preferences', text: `"${words.text}"`, evidence: at(witness, [person, words.item]) }
        : null;
    },
    "the agent's words said to be a person's": (witness, lots) => {
      const words = sentenceOf(witness, lots, ({ who }) => who === 'assistant');
      return words
        ? {
            section: 'knowledge',
            text: `${saidBy[witness.language]} "${words.text}"`,
            evidence: at(witness, [words.item]),
          }
        : null;
    },
  },
  'invented command': {
    'another command': (witness, lots) => withCode(witness, lots, () => lots.of(inventedCommands)),
    'a flag put in': (witness, lots) =>
      withCode(witness, lots, (code) => (/ /.test(code) ? `${code} ${lots.of(inventedFlags)}` : null)),
    'another argument': (witness, lots) =>
      withCode(witness, lots, (code) => {
        const parts = code.split(' ');
        return parts.length < 2 ? null : [...parts.slice(0, -1), lots.of(inventedArguments)].join(' ');
      }),
    'another file': (witness, lots) =>
      withCode(witness, lots, (code) =>
        /^[\w./-]+\.\w+$/.test(code)
          ? code.replace(/[\w-]+(?=\.\w+$)/, (name) => `${name}_${lots.of(['v2', 'old', 'impl'])}`)
          : null,
      ),
    'a command of its own': (witness, lots) => {
      const output = itemOf(witness, lots, ({ kind }) => kind === 'output');
      return output
        ? {
            section: 'knowledge',
            text: `verified with \`${lots.of(inventedCommands)}\` (exit 0)`,
            evidence: at(witness, [output]),
          }
        : null;
    },
  },
  "other thread's quote": {
    'laid at a person': (witness, lots, all) => {
      const line = personsQuote(another(witness, lots, all), lots);
      const person = itemOf(witness, lots, ({ who }) => who === 'human');
      return line && person && !holds(person, line.text) ? { ...line, evidence: at(witness, [person]) } : null;
    },
    'laid at a tool': (witness, lots, all) => {
      const other = another(witness, lots, all);
      const line = lots.of(other.lines);
      const words = quoted.exec(line.text)?.[3] ?? '';
      const tool = itemOf(witness, lots, ({ who, kind }) => who === 'tool' && kind === 'output');
      if (words === '' || line.section === 'preferences' || tool === null) return null;
      return holds(tool, words) ? null : { section: 'failures', text: `"${words}"`, evidence: at(witness, [tool]) };
    },
  },
  'hedge dropped': {
    'quoted from behind it': (witness, lots) => {
      const doubt = doubtOf(witness, lots);
      return doubt && { section: 'preferences', text: `"${doubt.rest}"`, evidence: at(witness, [doubt.item]) };
    },
    'in words of its own': (witness, lots) => {
      const doubt = doubtOf(witness, lots);
      return (
        doubt && { section: 'preferences', text: doubt.rest.replace(/[.。]$/, ''), evidence: at(witness, [doubt.item]) }
      );
    },
    'as what is known': (witness, lots) => {
      const doubt = doubtOf(witness, lots);
      return (
        doubt && {
          section: 'knowledge',
          text: `${doubt.rest.replace(/[.。]$/, '')} (${lots.below(90)})`,
          evidence: at(witness, [doubt.item]),
        }
      );
    },
  },
  'tool text as a rule': {
    'as it stands': (witness, lots) => {
      const rule = printedRule(witness, lots);
      return (
        rule && {
          section: lots.of(['knowledge', 'failures'] as const),
          text: rule.text,
          evidence: at(witness, [rule.item]),
        }
      );
    },
    'as a quotation alone': (witness, lots) => {
      const rule = printedRule(witness, lots);
      return rule && { section: 'knowledge', text: `"${rule.text}"`, evidence: at(witness, [rule.item]) };
    },
    'as a preference': (witness, lots) => {
      const rule = printedRule(witness, lots);
      return rule && { section: 'preferences', text: rule.text, evidence: at(witness, [rule.item]) };
    },
    'with more of its items': (witness, lots) => {
      const rule = printedRule(witness, lots);
      const other = itemOf(witness, lots, ({ kind }) => kind === 'output');
      return rule && other && { section: 'knowledge', text: `${rule.text}`, evidence: at(witness, [rule.item, other]) };
    },
  },
  'raised authority': {
    'what was seen, as a preference': (witness, lots) => {
      const line = observed(witness, lots);
      const person = itemOf(witness, lots, ({ who }) => who === 'human');
      return line && person && !sharesWord(line.text, person.text)
        ? { ...line, section: 'preferences', evidence: at(witness, [person]) }
        : null;
    },
    'what was seen, with a person’s item beside it': (witness, lots) => {
      const line = observed(witness, lots);
      const person = itemOf(witness, lots, ({ who }) => who === 'human');
      const [first] = line?.evidence ?? [];
      return line && first && person && !sharesWord(line.text, person.text)
        ? { ...line, section: 'preferences', evidence: [{ thread: witness.thread, items: [person.n, ...first.items] }] }
        : null;
    },
    "an agent's proposal, as a preference": (witness, lots) => {
      const words = sentenceOf(witness, lots, ({ who }) => who === 'assistant');
      const person = itemOf(witness, lots, ({ who }) => who === 'human');
      return words && person && !holds(person, words.text)
        ? {
            section: 'preferences',
            text: words.text.replace(/["“”„「」«»`]/g, ''),
            evidence: at(witness, [person, words.item]),
          }
        : null;
    },
    "a tool's rule, with a person's item beside it": (witness, lots) => {
      const rule = printedRule(witness, lots);
      const person = itemOf(witness, lots, ({ who }) => who === 'human');
      return rule && person
        ? { section: 'preferences', text: rule.text, evidence: at(witness, [person, rule.item]) }
        : null;
    },
    "what was seen, said to be a person's wish": (witness, lots) => {
      const line = observed(witness, lots);
      return line && { ...line, section: 'knowledge', text: `${saidBy[witness.language]} ${line.text}` };
    },
  },
};

const otherWords: Readonly<Record<Witness['language'], readonly string[]>> = {
  recorded: ['sometimes', 'quickly', 'legacy', 'twice', 'optional'],
  en: ['sometimes', 'quickly', 'legacy', 'twice', 'optional'],
  de: ['manchmal', 'schnell', 'gelegentlich', 'zweimal', 'wahlweise'],
  zh: ['有时', '快速', '旧的', '两次', '可选'],
  fr: ['parfois', 'rapidement', 'ancien', 'souvent', 'optionnel'],
};
const saidBy: Readonly<Record<Witness['language'], string>> = {
  recorded: 'The user said',
  en: 'The user wants',
  de: 'Der Nutzer sagte',
  zh: '用户要求',
  fr: 'L’utilisateur veut',
};
const inventedCommands = [
  'npm run deploy:staging',
  'make release-candidate',
  'terraform apply -auto-approve',
  'cargo xtask lint --all',
  'kubectl rollout restart deploy/web',
  './scripts/nightly-sync.sh --prune',
];
const inventedFlags = ['--no-verify', '--force-reset', '--skip-slow', '--update-snapshots'];
const inventedArguments = ['tests/nowhere_at_all', 'src/phantom', '--retries=41', 'origin/never-there'];
