import { UsageError } from '../shared/errors.ts';

/** @throws UsageError for an address that no request can be made with. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(
      'model.base_url is no http(s) address without user and password.',
      'Write it with its version part, like https://host/v1; the key belongs into the variable that model.key_env names.',
    );
  return text.replace(/\/{1,9}$/, '');
}

/** @throws UsageError for a key that no header can hold. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (!/^[\u0021-\u007e]*$/.test(key))
    throw new UsageError(
      "The model's key holds spaces, line breaks or characters outside ASCII.",
      'Set the variable that model.key_env names to the key alone.',
    );
  return key;
}
