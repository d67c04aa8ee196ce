import { type Config, type ConfigIssue, readConfig } from './config-schema.ts';
import { UsageError } from './errors.ts';
import { fitsAName } from './safe-path.ts';
import { parseYaml } from './yaml.ts';

/** The one configuration file. */
export const configPath = '.github/memory.yml';

/** Everything that is wrong with `.github/memory.yml`, each mistake with its line. */
export class ConfigError extends UsageError {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
    super(
      `${configPath} has ${count}:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`,
      'Every key and its default stand in README.md, “Configuration”.',
    );
    this.mistakes = mistakes;
  }
}

/**
 * @param text of `.github/memory.yml`, or null where there is none: all defaults.
 * @throws ConfigError naming every mistake at once: unknown keys, wrong types, values out of bounds, bad YAML.
 */
export function parseConfig(text: string | null): Config {
  const { value, errors, lineOf } = parseYaml(text ?? '');
  if (errors.length > 0) throw new ConfigError(errors.map(({ line, message }) => `line ${line}: ${message}`));
  const read = readConfig(value ?? {});
  const issues = 'issues' in read ? [...read.issues] : [];
  issues.push(...contradictions(value));
  if ('config' in read && issues.length === 0) return read.config;
  throw new ConfigError(
    issues
      .map((issue) => ({ issue, line: lineOf(issue.path) ?? lineOf(issue.path.slice(0, -1)) }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(({ issue, line }) => `${line === null ? '' : `line ${line}: `}${nameOf(issue)} ${issue.message}`.trim()),
  );
}

/** `host/owner/name`, `host/owner/*`, `local:<12 hex digits>` or `none`. */
export function isRepositoryPattern(text: string): boolean {
  return fitsAName(text) && /^([a-z0-9][\w.-]*\/[\w./-]+(\/\*)?|local:[0-9a-f]{12}|none)$/.test(text);
}

/** What single keys cannot say: a model needs names, a repository pattern its form. */
function contradictions(value: unknown): ConfigIssue[] {
  if (!isRecord(value)) return [];
  const found: ConfigIssue[] = [];
  const model = isRecord(value.model) ? value.model : {};
  if (model.provider === 'openai') {
    for (const key of ['extract_model', 'consolidation_model']) {
      if (typeof model[key] !== 'string')
        found.push({ path: ['model', key], message: 'is missing: provider “openai” needs it (no model is built in)' });
    }
  }
  if (model.batch === true && model.provider !== 'openai')
    found.push({ path: ['model', 'batch'], message: 'needs provider “openai”: nothing else is asked in batches' });
  const budget = isRecord(value.budget) ? value.budget : {};
  const prices = isRecord(model.prices) ? model.prices : {};
  if (model.provider === 'openai' && budget.usd_per_month !== undefined) {
    for (const key of ['extract', 'consolidation']) {
      if (prices[key] === undefined)
        found.push({ path: ['model', 'prices', key], message: 'is missing: budget.usd_per_month counts with it' });
    }
  }
  for (const list of ['include', 'exclude'] as const) {
    const entries = Array.isArray(value[list]) ? value[list] : [];
    entries.forEach((entry: unknown, index) => {
      if (typeof entry === 'string' && !isRepositoryPattern(entry)) {
        found.push({
          path: [list, index],
          message: `“${entry.slice(0, 60)}” is no repository: write host/owner/name, host/owner/*, local:<12 hex digits> or none`,
        });
      }
    });
  }
  return found;
}

function nameOf(issue: ConfigIssue): string {
  return (
    issue.path.reduce<string>(
      (name, part) => (typeof part === 'number' ? `${name}[${part}]` : name === '' ? part : `${name}.${part}`),
      '',
    ) || 'the file'
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
