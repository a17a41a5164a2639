/** `--from`: rows become documents on this machine, as inputs by address do, and their other columns columns of tables. */
import { join } from 'node:path';
import type { QueryCell, QueryColumn, QueryRows } from '../../ports/rows/query.ts';
import { rowDigest } from '../../runtime/rows/marks.ts';
import { counted } from '../reports/counted.ts';
import { localFolder } from '../session/remote-files.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import { chooseColumns, extraOf, type ChosenColumns } from './choose-columns.ts';
import { resume, type Resumption } from './marks.ts';
import { openRows } from './open-rows.ts';
import { DocumentSpool } from './spool.ts';
import { bytesOf, nameOf, valueOf, withoutValue } from './texts.ts';

export interface SpooledRows {
  /** the session with the columns that are carried along */
  readonly session: ToolSession;
  /** archives of the documents, to be opened as inputs */
  readonly paths: readonly string[];
  /** there is no row to load, and none is missed: it was loaded before, or has no document */
  readonly isDone: boolean;
  /** The rows are in the target, or there were none. */
  settle(): Promise<void>;
}

/** AppErrors of the place, `invalid_option` if the columns are ambiguous; faults of a document are reported when it is read. */
export async function spooledRows(session: ToolSession): Promise<SpooledRows> {
  const rows = await openRows(session);
  try {
    return await spool(session, rows);
  } finally {
    await rows.close();
  }
}

async function spool(session: ToolSession, rows: QueryRows): Promise<SpooledRows> {
  const { request, soFar } = session;
  const columns = await rows.columns();
  const chosen = chooseColumns(columns, request);
  const resumption = request.after === undefined ? null : await resume(session, rows.label);
  const found = { rows: 0, without_document: 0, loaded_before: 0 };
  const documents = new DocumentSpool(join(localFolder(session, 'rows')));
  const begun = performance.now();
  for await (const row of rows.rows(orderOf(columns, chosen, resumption))) {
    found.rows += 1;
    session.progress(0);
    const cell = row[chosen.document]!;
    const values = chosen.carried.map(
      (at) => [columns[at]!.name, valueOf(columns[at]!.type, row[at]!)] as const,
    );
    const name = nameOf(values, found.rows);
    if (resumption !== null && isKnown(resumption, columns, chosen, row, name)) found.loaded_before += 1;
    else if (cell === null) found.without_document += 1;
    else await documents.add(name, bytesOf(cell), Object.fromEntries(values));
  }
  await documents.end();
  tell(session, rows.label, columns[chosen.document]!.name, found, performance.now() - begun);
  const { column } = request.after ?? { column: '' };
  const mark = resumption === null ? null : (resumption.mark ?? resumption.from);
  soFar.from = { ...found, ...(mark === null ? {} : { after: { column, mark } }) };
  if (mark !== null) session.log(`--after ${column} goes on from ${mark}`);
  const extraColumns = [...request.extraColumns, ...chosen.carried.map((at) => extraOf(columns[at]!))];
  const carrying = settledSession(session, { ...request, extraColumns });
  const adds = request.saveMode !== 'overwrite' && request.saveMode !== 'write-schema';
  return {
    session: resumption === null ? carrying : resumption.held(carrying),
    paths: documents.paths,
    isDone: documents.paths.length === 0 && adds && request.saveMode !== 'print-schema',
    settle: async () => resumption?.settle(),
  };
}

function orderOf(columns: readonly QueryColumn[], { after }: ChosenColumns, resumption: Resumption | null) {
  return after === null ? null : { column: columns[after]!.name, from: resumption!.from };
}

/** Takes note of a row that is not. AppError `unprocessable_input` for one without a value in the column of `--after`. */
function isKnown(
  resumption: Resumption,
  columns: readonly QueryColumn[],
  { document, after }: ChosenColumns,
  row: readonly QueryCell[],
  name: string,
): boolean {
  const value = row[after!]!;
  if (typeof value !== 'string') throw withoutValue(columns[after!]!.name, name);
  const digest = rowDigest(name, row[document]!);
  if (resumption.wasLoaded(value, digest)) return true;
  resumption.met(value, digest);
  return false;
}

function tell(
  session: ToolSession,
  label: string,
  column: string,
  {
    rows,
    without_document: empty,
    loaded_before: known,
  }: { rows: number; without_document: number; loaded_before: number },
  ms: number,
): void {
  const parts = [
    counted(rows, 'row'),
    ...(empty > 0 ? [`${empty} of them without a document (${column} is NULL)`] : []),
    ...(known > 0 ? [`${known} of them loaded before`] : []),
    `read in ${(ms / 1000).toFixed(1)} s`,
  ];
  session.log(`${label}: ${parts.join(', ')}`);
}
