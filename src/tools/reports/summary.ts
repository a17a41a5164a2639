/** The summary that a tool prints at its end, as text and as JSON. */
import { statusLetters, type StatusLetter } from '../../jobs/status-letters.ts';
import type { Conversion, KeptContent, SchemaChosen, WrittenSoFar } from './conversion-result.ts';

export interface ToolSummary {
  readonly job: number | null;
  readonly origin: number | null;
  readonly logical: number | null;
  readonly schema_chosen: SchemaChosen | null;
  readonly status: StatusLetter;
  /** documents that were published, or read for statistics */
  readonly documents: number;
  /** documents that start with an element which the schema does not have are counted apart, as `unknown_root` */
  readonly rejected: number;
  readonly unknown_root: number;
  /** what went to `_unmapped`: values, and documents that were kept whole */
  readonly unmapped: KeptContent;
  readonly rows: number;
  readonly tables: Readonly<Record<string, number>>;
  /** paths of the mapping, and paths met that it does not know */
  readonly xpaths: { readonly mapped: number; readonly new: number };
  readonly bytes: number;
  readonly seconds: number;
  readonly mb_per_s: number;
}

/** As the record of a job keeps it until its own summary is there. */
export function summaryOfWritten(
  idJob: number,
  written: WrittenSoFar,
): ToolSummary & { readonly details: WrittenSoFar['details'] } {
  const { origin, logical, chosen, documents, rejected, unknownRoots, kept } = written;
  const { tables, unknownPaths, bytes, details } = written;
  return {
    job: idJob,
    origin,
    logical,
    schema_chosen: chosen,
    status: statusLetters.completed,
    documents,
    rejected,
    unknown_root: unknownRoots,
    unmapped: kept,
    rows: Object.values(tables).reduce((sum, rows) => sum + rows, 0),
    tables,
    xpaths: { mapped: 0, new: unknownPaths },
    bytes,
    seconds: 0,
    mb_per_s: 0,
    details,
  };
}

export function printSummary(
  summary: ToolSummary,
  { steps, does }: Pick<Conversion, 'steps' | 'does'>,
): string[] {
  const lines: string[] = [];
  const tables = Object.entries(summary.tables);
  if (tables.length > 0) {
    const width = Math.max(...tables.map(([name]) => name.length));
    lines.push('rows per table:');
    for (const [name, rows] of tables) lines.push(`  ${name.padEnd(width)}  ${grouped(rows)}`);
  }
  if (steps.length > 0)
    lines.push(`steps: ${steps.map(([step, seconds]) => `${step} ${seconds.toFixed(2)} s`).join(', ')}`);
  const { documents, rejected } = summary;
  const paths = `paths: ${summary.xpaths.mapped} mapped, ${summary.xpaths.new} new`;
  lines.push(
    does === null ? `documents: ${documents} ok, ${rejected} rejected; ${paths}` : paths,
    `rows: ${grouped(summary.rows)}; ${(summary.bytes / 1e6).toFixed(2)} MB in ${summary.seconds.toFixed(2)} s, ${summary.mb_per_s.toFixed(1)} MB/s`,
    `origin ${summary.origin ?? '-'}, logical ${summary.logical ?? '-'}, job ${summary.job ?? '-'}: ${summary.status}`,
  );
  if (does !== null) lines.push(documentLine(summary, does));
  return lines;
}

/** What became of the documents, in one line. */
function documentLine(summary: ToolSummary, does: 'loaded' | 'read'): string {
  const { documents, unknown_root: unknownRoots, rejected, unmapped } = summary;
  const kept = [
    unmapped.values === 1 ? '1 value' : `${grouped(unmapped.values)} values`,
    ...(unmapped.documents === 0
      ? []
      : [`${grouped(unmapped.documents)} whole document${unmapped.documents === 1 ? '' : 's'}`]),
  ];
  const beside = does === 'loaded' ? `, ${kept.join(' and ')} kept in _unmapped` : '';
  return `${does} ${grouped(documents)}, unknown root ${grouped(unknownRoots)}, rejected ${grouped(rejected)}${beside}`;
}

/** 1,234,567. What the platform groups by would first load what it knows of every language, for longer than a small document takes. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
