import { sampleTexts } from '../samples.ts';

/**
 * Makes texts of about so many bytes from the samples' words, drawn one by one: so packing finds no more in them than in
 * what people and models write.
 */
export async function wordsFromSamples(): Promise<(bytes: number, draw: () => number) => string> {
  const words = (await sampleTexts()).join(' ').match(/[A-Za-z][\w./-]{1,20}/g) ?? [];
  return (bytes, draw) => {
    const lines: string[] = [];
    for (let left = bytes; left > 0; ) {
      const line: string[] = [];
      for (let width = 60 + draw() * 80; width > 0; ) {
        const word = words[Math.floor(draw() * words.length)] ?? 'word';
        line.push(word);
        width -= word.length + 1;
      }
      lines.push(`- ${line.join(' ')} (@${1 + Math.floor(draw() * 400)})`);
      left -= (lines.at(-1) ?? '').length + 1;
    }
    return lines.join('\n');
  };
}
