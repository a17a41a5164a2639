/** Numbers, sizes and times as people read them. */

const language = 'en-GB';
const plain = new Intl.NumberFormat(language);
const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });

export function count(value: number): string {
  return plain.format(value);
}

/** `1 table`, `2 tables` */
export function counted(value: number, word: string): string {
  return `${count(value)} ${value === 1 ? word : `${word}s`}`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length, Math.floor(Math.log2(value) / 10));
  return `${(value / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function moment(epochMs: number): string {
  return dateTime.format(epochMs);
}

/** `3 minutes ago`; the time itself if that is days ago */
export function ago(epochMs: number): string {
  const seconds = Math.round((epochMs - Date.now()) / 1000);
  if (seconds > -45) return 'just now';
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), 'minute');
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), 'hour');
  if (seconds > -7 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day');
  return moment(epochMs);
}
