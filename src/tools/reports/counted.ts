/** Formats numbers with nouns. */

/** `1,234 rows`, `1 row` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Formats a number as 1,234,567. The platform's formatter would first load its data on every language, which takes longer than a small
 * document.
 */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
