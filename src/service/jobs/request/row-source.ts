/** Parses the text of `--from`: a source of rows that have documents in a column. */
import { isRemoteLocation } from '../../files/remote-location.ts';
import { parseTarget, type Target } from './target.ts';

export type RowFileFormat = 'parquet' | 'csv';

export type RowSourceLocation =
  | Extract<Target, { kind: 'postgresql' | 'mysql' | 'duckdb' | 'sqlite' }>
  /** a path of this machine or of the organisation, or an address of `src/service/files/remote-location.ts` */
  | { readonly kind: 'file'; readonly path: string; readonly format: RowFileFormat };

export type RowServer = Extract<RowSourceLocation, { kind: 'postgresql' | 'mysql' }>;

/** Returns the source, or the fault of its text; the answer never repeats a password. */
export function rowSourceOf(text: string): RowSourceLocation | { readonly fault: string } {
  if (isRemoteLocation(text)) return fileOf(text, text.replace(/[?#].*$/s, ''));
  const target = parseTarget(text);
  if ('fault' in target) return target;
  switch (target.kind) {
    case 'metadb':
      return { fault: 'the metadata database is only for the service itself: name another database' };
    case 'iceberg':
      return { fault: 'documents cannot be read from a catalogue of Iceberg tables' };
    case 'registered':
      return { fault: `documents cannot be read from ${target.location}` };
    case 'bucket':
      return fileOf(text, text);
    case 'folder':
      return fileOf(text, target.path);
    default:
      return target;
  }
}

function fileOf(path: string, name: string): RowSourceLocation | { readonly fault: string } {
  if (/\.parquet$/i.test(name)) return { kind: 'file', path, format: 'parquet' };
  if (/\.[ct]sv(?:\.gz)?$/i.test(name)) return { kind: 'file', path, format: 'csv' };
  return {
    fault:
      'must be postgresql://…, mysql://…, sqlite:FILE, duckdb:FILE, or a file whose name ends in .parquet, .csv, .tsv, .csv.gz or .tsv.gz',
  };
}
