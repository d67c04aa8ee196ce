import { MemoryError } from '../shared/errors.ts';
import type { Edit } from './edit.ts';

/**
 * A file that is ours alone. One that a person has edited since is theirs: it is neither overwritten nor removed.
 * @param sign stands in every version of it, and in nobody else's file.
 * @param isKnown what one of our versions looks like when nobody edited it.
 */
export function ownFile(path: string, wanted: string, sign: string, isKnown: (text: string) => boolean): Edit {
  return {
    path,
    shown: wanted,
    isInstalled: (text) => text === wanted,
    holds: (text) => text.includes(sign),
    install: (text) => {
      if (text === null) return wanted;
      throw new MemoryError(
        `${path} is there already and is ${text.includes(sign) ? 'edited since it was written' : 'not of this command'}, so it was left as it is.`,
        'Move it away, then run the same command again.',
      );
    },
    uninstall: (text) => (text.includes(sign) && isKnown(text) ? null : text),
    structure: () => [],
    isEmpty: () => false,
  };
}
