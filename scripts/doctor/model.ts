import { type ListedModel, listModels } from '../model/models.ts';
import { day, type EpochSeconds, isoTime } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { type Finding, type Look, look, shown } from './finding.ts';

/** What the model's server lists; null where it has no list. */
export type ModelLook = Look<readonly ListedModel[] | null>;

/** @param keyOf the configured key. @throws ModelError where there is none. */
export function lookAtModels(config: Config, keyOf: () => string, signal: AbortSignal): Promise<ModelLook> {
  return look(async () => listModels({ apiKey: keyOf(), baseUrl: config.model.base_url }, signal));
}

/** A day of notice is too late: so many before a model is switched off somebody should know. */
const noticeDays = 60;

/** A key that is missing, refused or without rights, shown as the server says it; models that are gone or will be. */
export function modelFindings(models: ModelLook, { model }: Config, now: EpochSeconds): Finding[] {
  if ('error' in models) return [shown('model.key', models.error, 'No session is read and nothing is consolidated.')];
  const { seen } = models;
  if (seen === null) return [];
  const wanted = [
    ['model.extract_model', model.extract_model],
    ['model.consolidation_model', model.consolidation_model],
  ] as const;
  return wanted.flatMap(([key, name]) => {
    if (name === undefined) return [];
    const listed = seen.find(({ id }) => isSame(id, name));
    if (listed === undefined) return listsDeployments(model.base_url) ? [] : [gone(key, name, seen)];
    return listed.shutdownAt === null ? [] : ending(key, name, listed.shutdownAt, now);
  });
}

/** Some servers add a tag or a folder to the name. */
function isSame(id: string, name: string): boolean {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/^models\//, '')
      .replace(/:latest$/, '');
  return plain(id) === plain(name);
}

/** Azure lists models, and is asked for deployments. */
function listsDeployments(address: string | undefined): boolean {
  return address !== undefined && new URL(address).hostname.endsWith('.azure.com');
}

function gone(key: string, name: string, listed: readonly ListedModel[]): Finding {
  const some = listed.slice(0, 5).map(({ id }) => id);
  return {
    severity: 'error',
    check: 'model.gone',
    what: `The server has no model ${name} for this key`,
    why: 'Every request would be refused.',
    remedy: `Set ${key} to one that it lists, such as ${some.join(', ')}.`,
  };
}

function ending(key: string, name: string, at: EpochSeconds, now: EpochSeconds): Finding[] {
  const days = Math.floor((at - now) / day);
  if (days > noticeDays) return [];
  return [
    {
      severity: at <= now ? 'error' : 'warning',
      check: 'model.ending',
      what: `${name} ${at <= now ? 'was' : 'is'} switched off on ${isoTime(at).slice(0, 10)}${at <= now ? '' : `, in ${days} days`}`,
      why: 'From then on every request is refused.',
      remedy: `Set ${key} to its successor, and try it: npm run nightly -- --dry-run`,
    },
  ];
}
