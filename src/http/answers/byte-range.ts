/** One range of bytes (RFC 9110, section 14) of a log that grows, and whose beginning may be gone. */

export interface ByteSpan {
  readonly start: number;
  /** behind the last byte */
  readonly end: number;
}

/**
 * What a `Range` header asks for of the bytes [from, total). Null: the header is absent or no single range of bytes, and all is
 * meant; 'none': there is nothing in it. What is gone is left out.
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
