import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';

/** A text as only those can read it who know the secret: equal texts give equal seals. Base64url. */
export function sealed(text: string, secret: string): string {
  const key = keyOf(secret);
  const start = createHmac('sha256', key).update(text).digest().subarray(0, startBytes);
  const cipher = createCipheriv(algorithm, key, start);
  return Buffer.concat([start, cipher.update(text, 'utf8'), cipher.final()]).toString('base64url');
}

/** @param secret that it was sealed with; with another one the text is any. */
export function unsealed(seal: string, secret: string): string {
  const bytes = Buffer.from(seal, 'base64url');
  const decipher = createDecipheriv(algorithm, keyOf(secret), bytes.subarray(0, startBytes));
  return Buffer.concat([decipher.update(bytes.subarray(startBytes)), decipher.final()]).toString('utf8');
}

const algorithm = 'aes-256-ctr';
const startBytes = 16;

function keyOf(secret: string): Buffer {
  return createHash('sha256').update(`seal\n${secret}`).digest();
}
