import { filesOf } from './bullets.ts';
import { baseName } from './tasks.ts';
import type { Step } from './turns.ts';

const maxSlug = 60;

/**
 * A file-name-safe name: the request's words in lower-case ASCII, `_` between them; where nothing of them is left, the
 * first changed file's or the first program's name, else `session`.
 */
export function slugOf(request: string, steps: readonly Step[]): string {
  const [file] = filesOf(steps.flatMap((step) => (step.step === 'edit' ? [step] : [])));
  const command = steps.find((step) => step.step === 'command');
  const program = command?.step === 'command' ? (command.simple[0]?.program ?? '') : '';
  const names = [request, file ? baseName(file.name) : '', program];
  return names.map(asciiName).find((name) => name.length > 2) ?? 'session';
}

function asciiName(text: string): string {
  const plain = text.slice(0, 400).normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  const name = plain.replace(/[^a-z0-9]+/g, '_').replace(/^_+/, '');
  const cut =
    name.length > maxSlug
      ? name.slice(0, name.lastIndexOf('_', maxSlug) > 20 ? name.lastIndexOf('_', maxSlug) : maxSlug)
      : name;
  return cut.replace(/_+$/, '');
}
