/** Bounds of the four tools. @source spec §9; where it gives none, what keeps a hostile folder or call cheap. */
export const limits = {
  /** Bytes of one call's arguments, as JSON. */
  argumentBytes: 65_536,
  listed: 2_000,
  readTokens: 20_000,
  matches: 200,
  /** Matches of a ranked search that names no other number. */
  rankedMatches: 10,
  queries: 32,
  /** UTF-16 units of one query. */
  queryCharacters: 1_000,
  contextLines: 100,
  /** Bytes that one match shows, and one page of them. */
  matchBytes: 8_192,
  pageBytes: 262_144,
  /** Bytes of a file that is looked at, and of all that one search looks at. */
  fileBytes: 10_485_760,
  searchBytes: 134_217_728,
  /** Files and folders that one search walks. */
  entries: 20_000,
  /** Folders inside folders. */
  depth: 16,
} as const;
