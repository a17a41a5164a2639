/** What identifies jobs and logical schemas in targets of tests, made of numbers. */

/** The same job number of two installations is two jobs. */
export function uuidOfJob(idJob: number, installation = ''): string {
  const group = [...installation].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 0xffff, 1);
  return `${hex(group, 8)}-0000-4000-8000-${hex(idJob, 12)}`;
}

export function hashOfLogical(idLschma: number | null): string | null {
  return idLschma === null ? null : idLschma.toString(16).padStart(64, '0');
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
