/** Identifies the version of a file from a server's answers, to detect that the file has been replaced. */

/** Facts about a file, known since its first answer. */
export interface Pinned {
  /** its entity tag, otherwise its modification time; null: the server sends nothing that would show a change */
  readonly version: string | null;
  /** size of the whole file; null: unknown */
  readonly bytes: number | null;
}

/** `from`: the first byte that was asked for. */
export function pinnedOf(answer: Response, from: number): Pinned {
  const { headers } = answer;
  const version = headers.get('etag') ?? headers.get('last-modified');
  if (answer.status !== 206) {
    const length = headers.get('content-length');
    return { version, bytes: length === null ? null : Number(length) };
  }
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  // a range other than the requested one cannot be used
  if (Number(first) !== from) return { version: '', bytes: -1 };
  return { version, bytes: total === '*' ? null : Number(total) };
}

export function isOther(pinned: Pinned, found: Pinned): boolean {
  if (pinned.version !== found.version) return true;
  return pinned.bytes !== null && found.bytes !== null && pinned.bytes !== found.bytes;
}
