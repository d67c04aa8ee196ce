/** What a name promises: `password` (anything may be one) or `token` (made by a machine); `sure` without doubt. */
export interface SecretName {
  readonly kind: 'password' | 'token';
  readonly sure: boolean;
}

/** Every secret-looking name contains one of these, in either case. */
export const nameLiterals = ['pass', 'pwd', 'secret', 'token', 'key', 'credential', 'auth', 'mnemonic', '_pw'] as const;

const passwordWord = /^(?:\w{0,20}(?:password|passwd|passphrase|passwort)|pwd|mnemonic)$/;
const tokenWord = /^(?:\w{0,20}(?:secret|token|apikey|accesskey|secretkey|privatekey)|credentials?)$/;

/** `api_key` is a secret, `primary_key` is none. */
const keyQualifiers = new Set(
  `access account admin api app application auth cipher client consumer cookie crypt crypto deploy encrypt encryption
  hmac jwt license master private rsa secret server service session shared sign signing ssh storage subscription user
  webhook write`.split(/\s+/),
);

/** Says where or which secret, not the secret: `DB_PASSWORD_ENV`, `password_hash`, `token_count`. */
const asides = new Set(
  `age alg algorithm arn at auth budget bytes class cmd column command count counter created date dir endpoint end env
  error errors expired expires expiration expiry exists field fields file filename form format generator hash hashed
  header headers helper hint id ids index input invalid kind label len length level lifetime limit list location manager
  map max message min missing mode msg name names ns offset ok param params path pattern policy pos position prefix
  prompt provider ref refs regex required requirements reset role rotation rule rules scope scopes size source start
  status storage store strength suffix tag text time timeout title ttl type types uri url usage used validator
  validation valid version window`.split(/\s+/),
);

/** What may follow the word that says it: `DB_PASSWORD_PROD`, `secretKey2`, `token_b64`. */
const additions = new Set(
  `b64 backup base64 current db default dev development encoded live main new next old plain plaintext prev previous
  primary prod production raw root secondary stage staging test user value`.split(/\s+/),
);

/** @param name at most 64 characters are looked at. */
export function secretName(name: string): SecretName | null {
  const words = wordsOf(name.slice(0, 64));
  while (words.length > 1 && (additions.has(words.at(-1) ?? '') || /^v?\d{1,4}$/.test(words.at(-1) ?? ''))) words.pop();
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  const environment = /^[A-Z][A-Z0-9_]{2,}$/.test(name);
  if (passwordWord.test(last)) return { kind: 'password', sure: last !== 'pwd' || before !== '' };
  if ((last === 'pass' || last === 'pw') && (before !== '' || environment))
    return { kind: 'password', sure: environment };
  if (tokenWord.test(last)) return { kind: 'token', sure: true };
  if (last === 'key' && keyQualifiers.has(before)) return { kind: 'token', sure: true };
  if (last === 'key' && environment && before !== '' && before !== 'public') return { kind: 'token', sure: false };
  if (last === 'auth' && /^_auth$/i.test(name)) return { kind: 'token', sure: true };
  if (last === 'auth') return { kind: 'token', sure: false };
  if (asides.has(last) || words.includes('public')) return null;
  if (words.slice(0, -1).some((word) => passwordWord.test(word) || tokenWord.test(word)))
    return { kind: 'token', sure: false };
  return null;
}

/** `DB_PASSWORD`, `db.password`, `dbPassword`, `X-Api-Key` in lower-case words. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) => word.toLowerCase());
}
