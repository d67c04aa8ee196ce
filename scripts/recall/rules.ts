import { loadPrompt, renderPrompt } from '../shared/prompt.ts';

/** Set by the bundler, since one file has no folder of prompts beside it: the text of `prompts/recall.md`. */
declare const bundledRecallRules: string | undefined;

/** UTF-16 code units that the rules of use may take, the folder's name included. */
export const rulesCharacters = 1_800;

/** How a session is to use what it is given. @param folder where the memory files are, as the session may open them. */
export function rulesOfUse(folder: string): string {
  const template = typeof bundledRecallRules === 'string' ? bundledRecallRules : loadPrompt('recall');
  return renderPrompt(template, { folder }).trimEnd();
}
