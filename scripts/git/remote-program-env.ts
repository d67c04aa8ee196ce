import type { Environment } from './program.ts';
import type { Address } from './remote-url.ts';

/** What a person may have set for their connections; everything else that begins with `GIT_` stays away from ours. */
const passedOn: readonly string[] = [
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_PROXY_COMMAND',
  'GIT_ASKPASS',
  'GIT_SSL_NO_VERIFY',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_SSL_CERT',
  'GIT_SSL_KEY',
  'GIT_SSL_VERSION',
  'GIT_HTTP_PROXY_AUTHMETHOD',
  'GIT_PROXY_SSL_CAINFO',
  'GIT_PROXY_SSL_CERT',
  'GIT_PROXY_SSL_KEY',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_ALLOW_PROTOCOL',
];

/**
 * The variables for a command that talks to a remote. A credential stands in them alone: other than arguments they are
 * not shown to other users of the machine, and nothing writes them down.
 * @param authorization null: the user's own credential helpers are asked.
 */
export function networkVariables(
  env: Environment,
  address: Address,
  authorization: string | null,
  { stallSeconds, quietSsh }: { readonly stallSeconds: number; readonly quietSsh: boolean },
): Record<string, string> {
  const variables = Object.fromEntries(
    passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name] ?? '']])),
  );
  if (quietSsh) variables.GIT_SSH_COMMAND = sshCommand;
  if (authorization !== null) variables.GIT_ASKPASS = '';
  const settings = [...configOf(env), ...settingsFor(address, authorization, stallSeconds)];
  variables.GIT_CONFIG_COUNT = String(settings.length);
  settings.forEach(([key, value], at) => {
    variables[`GIT_CONFIG_KEY_${at}`] = key;
    variables[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return variables;
}

const sshCommand = 'ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=30 -o ServerAliveCountMax=4';

type Setting = readonly [key: string, value: string];

/** Settings that the user gave by variables; ours come after them. */
function configOf(env: Environment): Setting[] {
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  if (!Number.isInteger(count) || count < 0 || count > 1000) return [];
  return Array.from(
    { length: count },
    (_, at): Setting => [env[`GIT_CONFIG_KEY_${at}`] ?? '', env[`GIT_CONFIG_VALUE_${at}`] ?? ''],
  ).filter(([key]) => key !== '');
}

/** Settings for http are bound to the whole address, so that none of the user's is closer to it. */
function settingsFor({ kind, shown, user }: Address, authorization: string | null, stallSeconds: number): Setting[] {
  const common: Setting[] = [
    ['push.pushOption', ''],
    ['fetch.writeCommitGraph', 'false'],
  ];
  if (kind !== 'http') return common;
  const stall: Setting[] = [
    [`http.${shown}.lowSpeedLimit`, '1'],
    [`http.${shown}.lowSpeedTime`, String(stallSeconds)],
  ];
  if (authorization === null)
    return [...common, ...stall, ...(user === '' ? [] : [[`credential.${shown}.username`, user] as const])];
  return [
    ...common,
    ...stall,
    ['credential.helper', ''],
    ['core.askPass', ''],
    [`http.${shown}.followRedirects`, 'false'],
    [`http.${shown}.extraHeader`, ''],
    [`http.${shown}.extraHeader`, `Authorization: ${authorization}`],
  ];
}
