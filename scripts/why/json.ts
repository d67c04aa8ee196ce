import type { CommitInfo } from '../git/types.ts';
import { isoTime } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import type { RunRow } from '../state/types.ts';
import { rolloutPath } from '../workspace/layout.ts';
import type { MemoryLine } from './lines.ts';
import type { CommitFacts } from './maker.ts';
import type { Answer, KnownWording } from './run.ts';
import type { CitedItem } from './sessions.ts';
import type { Words } from './words.ts';

type Fields = Record<string, unknown>;

/** An answer for machines: times are ISO 8601, ids are whole. `at` is the commit that was asked about, null for HEAD. */
export function answerJson(answer: Answer, at: Oid | null): Fields {
  const { line, wordings, later, sessions, madeOf, persons } = answer;
  const [newest, ...earlier] = wordings.map((wording) => wordingJson(wording, answer));
  return {
    outcome: 'answer',
    at,
    line: lineJson(line),
    origin: newest ?? null,
    earlier,
    history_is_cut: answer.isCut,
    later:
      later === null
        ? null
        : later.kind === 'stands'
          ? { kind: later.reworded ? 'reworded' : 'stands', line: lineJson(later.line) }
          : {
              kind: 'gone',
              commit: commitJson(later.removal.facts, answer),
              superseded_by:
                later.removal.by === null ? null : { ...lineJson(later.removal.by.by), link: later.removal.by.link },
            },
    sessions: sessions.map(sessionJson),
    made_of: madeOf.map(lineJson),
    person: persons === null ? null : { who: persons.who, since: isoTime(persons.since) },
    state: answer.stateFrom,
  };
}

/** What the handbook said at a commit. */
export function beliefsJson(at: CommitInfo, lines: readonly MemoryLine[]): Fields {
  return { outcome: 'beliefs', at: at.oid, time: isoTime(at.at), lines: lines.map(lineJson) };
}

/** Lines that match or nearly match, where none can be answered for. */
export function linesJson(outcome: 'several' | 'none', lines: readonly MemoryLine[]): Fields {
  return { outcome, lines: lines.map(lineJson) };
}

function lineJson({ path, line, raw, scope, evidence }: MemoryLine): Fields {
  return { path, line, text: raw, repo: scope, evidence };
}

function wordingJson(wording: KnownWording, answer: Answer): Fields {
  const { line, how, origin, end, until, supersedes } = wording;
  return {
    text: line.raw,
    path: line.path,
    how,
    since: commitJson(origin, answer),
    until: end === null || until === null ? null : { ...commitJson(end, answer), how: until.how },
    supersedes: supersedes.map(({ raw }) => raw),
  };
}

function commitJson({ commit, maker, run, pullRequest, via }: CommitFacts, { closed }: Answer): Fields {
  return {
    commit: commit.oid,
    time: isoTime(commit.at),
    author: commit.author,
    by: maker.kind,
    run_id: maker.kind === 'run' ? maker.runId : null,
    known_by: maker.kind === 'run' ? maker.by : null,
    claimed_run: maker.kind === 'person' ? maker.claims : null,
    run: run === null ? null : runJson(run),
    pull_request: pullRequest === null ? null : { ...pullRequest, closed: closed.has(String(pullRequest.number)) },
    via: via.map((passage) => ({ kind: passage.kind, commit: passage.commit.oid, time: isoTime(passage.commit.at) })),
  };
}

function runJson({ runId, startedAt, finishedAt, outcome, models, promptsHash, usage }: RunRow): Fields {
  return {
    run_id: runId,
    started_at: isoTime(startedAt),
    finished_at: isoTime(finishedAt),
    outcome,
    models,
    prompts_hash: promptsHash,
    usage,
  };
}

function sessionJson({
  shortId,
  threadId,
  thread,
  output,
  note,
  items,
  fate,
  words,
}: Answer['sessions'][number]): Fields {
  return {
    short_id: shortId,
    thread_id: threadId,
    fate: fate === null ? null : { ...fate, ...('since' in fate ? { since: isoTime(fate.since) } : {}) },
    agent: thread?.agent ?? null,
    author: thread?.author ?? null,
    title: thread?.title ?? null,
    started_at: thread === null ? null : isoTime(thread.startedAt),
    rollout_path: thread === null ? null : rolloutPath(thread.threadId, thread.startedAt),
    code: thread === null ? null : { repo: thread.repo, commit: thread.commit, branch: thread.branch, cwd: thread.cwd },
    stage1:
      output === null
        ? null
        : {
            extractor: output.extractorClass,
            run_id: output.runId,
            prompt_hash: output.promptHash,
            generated_at: isoTime(output.generatedAt),
            summary: `memories/rollout_summaries/${output.stem}.md`,
          },
    note:
      note === null
        ? null
        : {
            path: note.path,
            authority: note.authority,
            author: note.author,
            channel: note.channel,
            at: note.at === null ? null : isoTime(note.at),
          },
    items: items.map((item) => itemJson(item, words.find(({ n }) => n === item.n) ?? null)),
  };
}

function itemJson({ n, row, forgotten }: CitedItem, words: Words | null): Fields {
  return {
    n,
    who: row?.who ?? null,
    at: row?.at == null ? null : isoTime(row.at),
    source_line: row?.line ?? null,
    source_id: row?.srcId ?? null,
    hedged: row?.hedged ?? null,
    forgotten: forgotten === null ? null : { since: isoTime(forgotten.setAt), reason: forgotten.reason },
    words:
      words === null
        ? null
        : {
            from: words.from,
            text: words.text,
            unchanged: words.unchanged,
            before: words.before === null ? null : { who: words.before.who, text: words.before.text },
            after: words.after === null ? null : { who: words.after.who, text: words.after.text },
          },
  };
}
