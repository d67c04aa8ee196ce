import { ruleOf } from './catalogue.ts';
import type { CheckReport } from './run.ts';

/**
 * The report as SARIF 2.1.0, which code scanning and editors read. Silenced findings are in it, suppressed with their
 * reason.
 * @source OASIS sarif-schema-2.1.0
 */
export function sarifOf({ findings, silenced }: Pick<CheckReport, 'findings' | 'silenced'>): Record<string, unknown> {
  const all = [...findings.map((finding) => ({ finding, because: null })), ...silenced];
  const ids = [...new Set(all.map(({ finding }) => finding.rule))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'commit-to-memory check',
            rules: ids.map((id) => {
              const rule = ruleOf(id);
              return {
                id,
                shortDescription: { text: rule?.meaning ?? id },
                help: { text: `${rule?.remedy ?? ''} Example: ${rule?.example ?? ''}` },
              };
            }),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: all.map(({ finding, because }) => ({
          ruleId: finding.rule,
          ruleIndex: ids.indexOf(finding.rule),
          level: finding.severity,
          message: { text: `${finding.message} ${finding.remedy}` },
          ...(finding.isOld === undefined ? {} : { baselineState: finding.isOld ? 'unchanged' : 'new' }),
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: finding.path.split('/').map(encodeURIComponent).join('/') },
                region: { startLine: finding.line },
              },
            },
          ],
          ...(because === null ? {} : { suppressions: [{ kind: 'external', justification: because }] }),
        })),
      },
    ],
  };
}
