import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
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
