/** Makes the names of the files that tables are written into. */
import { createHash } from 'node:crypto';

const maxNameBytes = 180;

/**
 * Returns a table's name as part of a file's name. Letters, digits, `_` and `-` are unchanged, all other characters are percent-encoded. So
 * `NAME.csv` and `NAME.JOB.csv` are the files of one table, and `NAME.*csv` matches only them.
 */
export function fileNamePart(table: string): string {
  const name = table.replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const hash = createHash('sha256').update(table).digest('hex').slice(0, 12);
  return `${Buffer.from(name)
    .subarray(0, maxNameBytes)
    .toString()
    .replace(/\u{FFFD}+$/u, '')
    .replace(/%.?$/, '')}-${hash}`;
}

/** Returns a job's mark in file names: its number and the start of its UUID, which distinguish it from all other jobs. */
export function jobMark(idJob: number, jobUuid: string): string {
  return `${idJob}-${jobUuid.slice(0, 8)}`;
}

/** Returns the first free name of `PART.EXT`, `PART.JOB.EXT`, `PART.JOB-2.EXT` … */
export function freeFileName(
  part: string,
  job: number,
  extension: string,
  taken: ReadonlySet<string>,
): string {
  let name = `${part}.${extension}`;
  for (let n = 1; taken.has(name); n += 1) name = `${part}.${job}${n === 1 ? '' : `-${n}`}.${extension}`;
  return name;
}
