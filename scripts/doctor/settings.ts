import { ConfigError, configPath } from '../shared/config.ts';
import type { Config } from '../shared/config-schema.ts';
import type { Finding, Look } from './finding.ts';
import { shown } from './finding.ts';

/** Mistakes in the configuration, each as one finding, and what contradicts itself. */
export function settingFindings(config: Look<Config>): Finding[] {
  if ('seen' in config) return contradictions(config.seen);
  const { error } = config;
  if (!(error instanceof ConfigError)) return [shown('settings', error, nothingRuns)];
  return error.mistakes.map((mistake) => ({
    severity: 'error',
    check: 'settings',
    what: `${configPath}, ${mistake}`,
    why: nothingRuns,
    remedy: `Correct it: ${error.hint}`,
  }));
}

const nothingRuns = 'No night runs before the configuration can be read.';

function contradictions({ enabled, delivery, model, include, sources }: Config): Finding[] {
  const found: Finding[] = [];
  if (!enabled)
    found.push({
      severity: 'warning',
      check: 'settings.enabled',
      what: `enabled is false in ${configPath}`,
      why: 'Every night ends at once.',
      remedy: `Write enabled: true into ${configPath}.`,
    });
  if (delivery.mode !== 'commit' && model.provider === undefined)
    found.push({
      severity: 'error',
      check: 'settings.delivery',
      what: `delivery.mode is ${delivery.mode}, and model.provider is not set`,
      why: 'Nights are committed in the clone that plays them and never delivered.',
      remedy: `Write model: { provider: builtin } (or openai) into ${configPath}.`,
    });
  if (include.length === 0 && sources.length === 0)
    found.push({
      severity: 'error',
      check: 'settings.include',
      what: 'No repository is included',
      why: 'No session is read or collected.',
      remedy: `List the repositories as include in ${configPath}, such as host/owner/*.`,
    });
  return found;
}
