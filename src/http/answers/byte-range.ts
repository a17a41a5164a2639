/** One range of bytes (RFC 9110, section 14) of a log that grows, and whose beginning may have been dropped. */

export interface ByteSpan {
  readonly start: number;
  /** offset after the last byte */
  readonly end: number;
}

/**
 * Parses a `Range` header for the available bytes [from, total). Returns null if the header is absent or not a single range of bytes,
 * so that all bytes are meant; 'none' if the range is empty. Bytes before `from` are left out.
 */
export function byteRange(header: string | undefined, from: number, total: number): ByteSpan | null | 'none' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (match === null) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  if (first === '') {
    const start = Math.max(from, total - Number(last));
    return start < total ? { start, end: total } : 'none';
  }
  if (last !== '' && Number(last) < Number(first)) return null;
  const start = Math.max(from, Number(first));
  const end = last === '' ? total : Math.min(total, Number(last) + 1);
  return start < end ? { start, end } : 'none';
}
