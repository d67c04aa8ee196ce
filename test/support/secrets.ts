/** Made-up secrets, put together only at run time, so that no scanner takes a test for a leak. */

export const lower = 'abcdefghijklmnopqrstuvwxyz';
export const upper = lower.toUpperCase();
export const digits = '0123456789';
export const alnum = `${lower}${upper}${digits}`;
export const hex = `${digits}abcdef`;
export const base64 = `${alnum}+/`;
export const base32 = `${upper}234567`;

/** `length` characters of the alphabet, always the same ones for the same seed, both cases and digits among them. */
export function made(length: number, alphabet = alnum, seed = 7): string {
  let state = seed;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += alphabet[Math.floor((state / 2_147_483_648) * alphabet.length)] ?? '';
  }
  return text;
}

export function madeUuid(seed = 7): string {
  return [8, 4, 4, 4, 12].map((length, index) => made(length, hex, seed + index)).join('-');
}

export function joined(...parts: readonly string[]): string {
  return parts.join('');
}
