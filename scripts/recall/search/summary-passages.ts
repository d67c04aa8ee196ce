import { splitHeader } from '../../workspace/inputs.ts';
import { type Passage, placeOf, plain, worth } from './passage.ts';

/** A summary's tasks, whole; what stands above the first is one more. */
export function summaryPassages(path: string, text: string): Passage[] {
  const { header } = splitHeader(text);
  const [repo = '', cwd = ''] = [header.repo, header.cwd];
  const lines = text.split('\n').map((line) => line.trimEnd());
  const title = lines.find((line) => line.startsWith('# '))?.slice(2) ?? '';
  const first = Object.keys(header).length;
  const starts = [first, ...lines.flatMap((line, index) => (/^## /.test(line) && index > first ? [index] : []))];
  return starts.flatMap((start, index) => {
    const end = starts[index + 1] ?? lines.length;
    const from = lines.findIndex((line, at) => at >= start && line !== '');
    const to = lines.findLastIndex((line, at) => at < end && line !== '');
    if (from === -1 || from > to || to < start) return [];
    const heading = /^## (?:Task \d+: )?(.*)$/.exec(lines[from] ?? '')?.[1];
    return [
      {
        path,
        from,
        to,
        scope: repo === '' ? null : repo,
        body: plain(
          lines
            .slice(heading === undefined ? from : from + 1, to + 1)
            .filter((line) => !label.test(line))
            .join('\n'),
        ),
        title: heading ?? title,
        keywords: '',
        appliesTo: placeOf(repo, cwd),
        worth: heading === undefined && starts.length > 1 ? worth.pointer : worth.usual,
      },
    ];
  });
}

/** Lines of a summary that every one has. */
const label = /^(?:[A-Z][\w ()]{0,60}:|Outcome: .*|Rollout context: .*)$/;
