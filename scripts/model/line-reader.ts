/** Characters of the longest line that is kept. */
export const longestLine = 8 * 1024 * 1024;

/** Cuts a text that comes in pieces into lines. */
export interface LineReader {
  /** @returns whether more is wanted. */
  add(text: string): boolean;
  /** Nothing more comes: hands on a last line without an end. */
  end(): void;
}

/** @param take gets each line that is not empty, null for one that is too long; false: no more. */
export function createLineReader(take: (line: string | null) => boolean): LineReader {
  let open: string[] = [];
  let length = 0;
  let goesOn = true;
  const close = () => {
    const line = length > longestLine ? null : open.join('').trim();
    open = [];
    length = 0;
    if (line !== '') goesOn = take(line);
  };
  const keep = (part: string) => {
    length += part.length;
    if (length <= longestLine) open.push(part);
    else open = [];
  };
  return {
    add(text) {
      let start = 0;
      for (let end = text.indexOf('\n'); goesOn && end !== -1; end = text.indexOf('\n', start)) {
        keep(text.slice(start, end));
        close();
        start = end + 1;
      }
      if (goesOn) keep(text.slice(start));
      return goesOn;
    },
    end: () => {
      if (goesOn) close();
    },
  };
}
