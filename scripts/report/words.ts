/** Times and numbers as the page shows them: UTC, English, the same on every machine. This file imports nothing. */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** `29 Nov 2026` of epoch seconds. */
export function dayText(at: number): string {
  const date = new Date(at * 1000);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ''} ${date.getUTCFullYear()}`;
}

/** `29 Nov` */
export function shortDay(at: number): string {
  return dayText(at).replace(/ \d+$/, '');
}

/** `29 Nov 2026, 23:44` */
export function timeText(at: number): string {
  return `${dayText(at)}, ${new Date(at * 1000).toISOString().slice(11, 16)}`;
}

/** `12,345` */
export function numberText(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `950`, `12.3 k`, `4.1 M` */
export function shortNumber(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  return count < 1_000_000 ? `${rounded(count / 1_000)} k` : `${rounded(count / 1_000_000)} M`;
}

/** `$0.0042`, `$12.30` */
export function usdText(usd: number): string {
  return `$${usd > 0 && usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** `1 session`, `3 sessions` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** A repository's id as a heading. */
export function repositoryName(id: string): string {
  if (id === '*') return 'Everywhere';
  if (id === 'none') return 'Outside any repository';
  return id === '' ? 'People’s own sections' : id;
}

function rounded(count: number): string {
  return count < 10 ? count.toFixed(1).replace(/\.0$/, '') : String(Math.round(count));
}
