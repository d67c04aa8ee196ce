import { placeholder } from './redact-types.ts';

/**
 * Words that alone or joined by `-`, `_`, `.` or spaces stand for a value instead of being one: stand-ins, types,
 * states and what a form or a manual says beside a password's name.
 */
const standIns = new Set(
  `a access account admin an any api app apikey as auth authorization automatic automation bar base64 basic bearer bool
  boolean buffer bytes callback change changeme char client code config const contraseña credential credentials default
  demo description disabled disallowed dummy empty enabled enter env environment error example expected expired false
  field file foo form from generated get header here hidden id in input insert int invalid is json jwt kennwort key keys
  list local login masked me method missing mode must my name new nil no none not null number object of off ok old
  oauth2 on one only option optional or our owner param parameter pass passphrase passwd passwort password passwords
  path pem placeholder plain private process production project prompt provided public pw pwd read readonly redacted
  refresh replace required reset root sample scheme secret secrets self senha session set some sso staging standard
  string str super test testing text that the this to todo token tokens true type undefined unknown unset url use user
  username value values var variable void with write x xxx yes you your`.split(/\s+/),
);

/** Stands for a secret, names where it is kept, or was masked already. */
export function isStandIn(value: string): boolean {
  return (
    value.includes(placeholder.slice(0, -1)) ||
    isMasked(value) ||
    isReference(value) ||
    value
      .toLowerCase()
      .split(/[-_.\s/]+/)
      .every((word) => word === '' || standIns.has(word))
  );
}

/** `****`, `xxxx`, `sk-proj-****`, `ghp_…`, `0000`: too little of it is left to be one. */
function isMasked(value: string): boolean {
  if (/^(.)\1*$/s.test(value)) return true;
  if (!/\*{3}|x{4}|X{4}|\.{3}|…|•{3}|_{4}|#{4}/.test(value)) return false;
  return (
    value.replace(/\*{3,}|[xX]{4,}|\.{3,}|…|•{3,}|_{4,}|#{4,}/g, '').length <= 10 || /\*{3}|…|•{3}|\.{3}$/.test(value)
  );
}

/** `$TOKEN`, `${{ secrets.X }}`, `%(password)s`, `<your key>`, `os.environ[…]`, `op://vault/item`. */
function isReference(value: string): boolean {
  return (
    /^\\?\$(?:env:)?[A-Za-z_][A-Za-z0-9_]{0,80}$/.test(value) ||
    /\$\{|\$\(|\{\{|<%|#\{|%\(\w/.test(value) ||
    /^(?:<.*|\{.*\}|\[.*\]|%[A-Za-z_]{1,60}%?|:\w{1,40}|@\w{1,40})$/s.test(value) ||
    /^(?:process\.env|os\.|env[.[]|ENV\[|getenv|import\.meta|secrets\.|vars?\.|vault:|op:\/\/|ssm:|arn:|env:|file:|keyring|ENC\[|data\.|local\.|module\.)/.test(
      value,
    )
  );
}

/** `/run/secrets/db`, `~/.ssh/id_ed25519`, `C:\keys`, `./certs/server.key`. */
export function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?(?:\/[A-Za-z0-9_.@-]{1,40}){1,20}\/?$/.test(value) || /^[A-Za-z]:[\\/]/.test(value);
}

/** Source text where a value would stand: a member, a call, an index, an operator. */
export function isCode(value: string): boolean {
  return isMember(value) || /^[&*!]?[A-Za-z_$][\w$.:>?-]{0,120}[([<{]/.test(value) || /^[([{<&|+=!?@]/.test(value);
}

/** `form.password`, `self->token`, `auth.errors.missing`. */
export function isMember(value: string): boolean {
  return (
    /^[&*!(]?[A-Za-z_$][\w$]{0,60}(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]{0,60}){1,10}[!;,)]{0,3}$/.test(value) &&
    value.split(/\W{1,4}/).every((word) => word === '' || isWordy(word.replace(/^_{1,2}|_$/g, '')))
  );
}

/** An identifier or a phrase: words of letters, perhaps numbered at the end. */
export function isWordy(value: string): boolean {
  return /^[A-Za-z]{1,40}(?:[-_./ ][A-Za-z]{1,40}){0,20}[-_.]?\d{0,3}$/.test(value) && !isScrambled(value);
}

/** What a generator makes and hardly a person: at least 8 characters, digits among letters or case that jumps. */
export function looksRandom(value: string): boolean {
  if (value.length < 8 || /\s/.test(value) || isWordy(value) || isPath(value)) return false;
  if (/^v?\d{1,4}(?:[.:/-]\d{1,4}){1,5}(?:[-+T][\w.:+-]{0,20})?$/.test(value)) return false;
  return (/\d/.test(value) && /[A-Za-z]/.test(value)) || isScrambled(value);
}

/** Letters, digits and the few signs that generated tokens use: source text soon has others. */
export function hasTokenSigns(value: string): boolean {
  return /^[\w.~+/=:%-]{1,8192}$/.test(value);
}

/** Digits in a row are numbers (versions too), not secrets, unless a password is asked for. */
export function isNumber(value: string): boolean {
  return /^(?:[-+v^~]?[\d_.,]{1,40}(?:[eE]\d{1,3}|[a-z]{1,2})?|0[xX][0-9A-Fa-f]{1,16})$/.test(value);
}

/** Letters only, but upper and lower case change as no name does. */
function isScrambled(value: string): boolean {
  const letters = value.replace(/[^A-Za-z]/g, '');
  if (letters.length < 20 || !/[A-Z]{2}/.test(letters)) return false;
  const humps = letters.match(/[a-z][A-Z]/g)?.length ?? 0;
  return humps / letters.length > 0.16;
}
