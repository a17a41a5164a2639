/** Numbers and what they count, in words. */

/** `1,234 rows`, `1 row` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** 1,234,567. What the platform groups by would first load what it knows of every language, for longer than a small document takes. */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
