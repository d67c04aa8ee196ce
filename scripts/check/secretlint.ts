import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import type { Files } from '../shared/files.ts';
import { placeholder } from '../shared/redact-types.ts';

/** What another project's rules call a secret. `start` and `end` are UTF-16 code units of the text. */
export interface AuditFinding {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  /** Never shows the secret itself. */
  readonly message: string;
}

const presetId = '@secretlint/secretlint-rule-preset-recommend';

/**
 * As `auditSecrets`, for many files. All Markdown is judged at once, as one text: each judgement leaves marks in the
 * process that the next one walks through, so that a thousand of them cost a million steps.
 * @returns by path; positions are the file's own.
 */
export async function auditFiles(files: Files): Promise<ReadonlyMap<string, readonly AuditFinding[]>> {
  const audited = new Map<string, AuditFinding[]>();
  const markdown: { readonly path: string; readonly from: number; readonly to: number }[] = [];
  const texts: string[] = [];
  let at = 0;
  for (const [path, text] of files) {
    if (!path.endsWith('.md')) {
      audited.set(path, [...(await auditSecrets(path, text))]);
      continue;
    }
    markdown.push({ path, from: at, to: at + text.length });
    texts.push(text);
    at += text.length + between.length;
  }
  for (const finding of await auditSecrets('all.md', texts.join(between))) {
    const file = markdown.find(({ to }) => finding.start < to);
    if (file === undefined) continue;
    const [start, end] = [Math.max(0, finding.start - file.from), Math.min(finding.end, file.to) - file.from];
    audited.set(file.path, [...(audited.get(file.path) ?? []), { ...finding, start, end }]);
  }
  return audited;
}

/** Ends every word and line; a key that begins in one file and ends in the next is found where it begins. */
const between = '\n\n';

/**
 * A second opinion on text that is to be committed: secretlint's recommended preset. Our own placeholder is no finding
 * to it, and comments in the text cannot turn it off.
 * @param name the file's path, for rules that look at its ending.
 */
export async function auditSecrets(name: string, text: string): Promise<readonly AuditFinding[]> {
  const result = await lintSource({
    source: { filePath: name, content: neutral(text), ext: extensionOf(name), contentType: 'text' },
    options: {
      locale: 'en',
      maskSecrets: true,
      noPhysicFilePath: true,
      config: { rules: [{ id: presetId, rule: creator }] },
    },
  });
  return result.messages.map(({ ruleId, range: [start, end], message }) => ({
    rule: ruleId.replace('@secretlint/secretlint-rule-', ''),
    start,
    end,
    message,
  }));
}

/** Same length: our placeholder as a variable, which no rule reports, and without the preset's own commands. */
function neutral(text: string): string {
  return text.replaceAll(placeholder, '$REDACTED_SECRET_').replace(/secretlint-(?=disable|enable)/g, 'secretlint_');
}

function extensionOf(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
}
