import { handbookPath, memorySummaryPath, rawMemoriesPath, stemOf } from '../../workspace/layout.ts';
import { normaliseLine } from '../../workspace/lines.ts';
import { handbookPassages } from './handbook-passages.ts';
import { paragraphsOf } from './paragraphs.ts';
import type { Passage } from './passage.ts';
import { summaryPassages } from './summary-passages.ts';

/** A memory file's passages. Raw memories have none: what they say stands in the summaries and the handbook. */
export function passagesOf(path: string, text: string): Passage[] {
  const place = `memories/${path}`;
  if (place === handbookPath) return handbookPassages(text);
  if (stemOf(place) !== null) return summaryPassages(path, text);
  if (place === rawMemoriesPath || place === memorySummaryPath || !path.endsWith('.md')) return [];
  return paragraphsOf(path, text);
}

/** What says the same as an earlier one of its repository is left out: give the handbook's first. */
export function withoutRepeats(passages: readonly Passage[]): Passage[] {
  const seen = new Set<string>();
  return passages.filter(({ scope, body }) => {
    const key = `${scope ?? ''}\n${normaliseLine(body)}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
