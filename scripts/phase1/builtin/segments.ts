/** One simple command of a shell line: its words without quotes, and its place in the line. */
export interface Segment {
  readonly words: readonly string[];
  readonly source: string;
  /** The line's exit status is this command's: nothing is piped, and only `&&` or a loop's end follows. */
  readonly decides: boolean;
  /** What it prints reaches the session to its end: into no file, and through no filter but `tail`, `tee` and `cat`. */
  readonly shown: boolean;
}

// What a loop or a measure puts before a command.
const framing = /^\s{0,40}(?:(?:do|then|else|time|!|[{(])\s{1,20}){0,4}/;
const showsTheEnd = new Set(['tail', 'tee', 'cat']);

/** Each simple command that is no filter. Quotes and escapes are honoured; a substitution is a word. */
export function segmentsOf(line: string): Segment[] {
  const segments: { words: string[]; source: string; decides: boolean; shown: boolean }[] = [];
  let words: string[] = [];
  let word = '';
  let inWord = false;
  let isFilter = false;
  let start = 0;
  const endWord = () => {
    if (inWord) words.push(word);
    word = '';
    inWord = false;
  };
  const endSegment = (end: number, by: string) => {
    endWord();
    const isCommand = words.length > 0 && !isFilter;
    if (isCommand) {
      const source = line.slice(start, end).replace(framing, '').trim();
      segments.push({ words, source, decides: by !== '|', shown: !words.some(intoFile) });
    }
    const filtered = segments.at(-1);
    if (isFilter && filtered && !showsTheEnd.has(words[0] ?? '')) filtered.shown = false;
    if (by !== '&&' && by !== '|' && by !== '') for (const segment of segments) segment.decides = false;
    words = [];
    isFilter = by === '|';
  };
  let at = 0;
  for (; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (char === "'" || char === '"') {
      const close = closing(line, at, char);
      word += line.slice(at + 1, close);
      inWord = true;
      at = close;
    } else if (char === '\\') {
      word += line[at + 1] ?? '';
      inWord = true;
      at += 1;
    } else if (char === '<' && line[at + 1] === '<') {
      words.push('-');
      break;
    } else if (char === '$' && line[at + 1] === '(') {
      const close = line.indexOf(')', at);
      const end = close < 0 ? line.length : close;
      word += line.slice(at, end + 1);
      inWord = true;
      at = end;
    } else if (char === '&' && (line[at - 1] === '>' || line[at + 1] === '>')) {
      word += char;
      inWord = true;
    } else if (char === '|' || char === ';' || char === '&' || char === '\n') {
      const by = line[at + 1] === char && char !== '\n' ? char + char : char;
      const endsLine = (by === ';' || by === '\n') && /^\s*(?:done|\})?[;\s]*$/.test(line.slice(at + 1, at + 41));
      endSegment(at, endsLine ? '' : by);
      at += by.length - 1;
      start = at + 1;
    } else if (/\s/.test(char)) endWord();
    else {
      word += char;
      inWord = true;
    }
  }
  endSegment(at, '');
  return segments;
}

/** `>file`, `1>`, `&>>log`; not `2>file` and `2>&1`. */
function intoFile(word: string): boolean {
  return /^[1&]?>{1,2}(?!&)/.test(word);
}

function closing(line: string, open: number, mark: string): number {
  for (let at = open + 1; at < line.length; at += 1) {
    if (mark === '"' && line[at] === '\\') at += 1;
    else if (line[at] === mark) return at;
  }
  return line.length;
}
