/** `--after`: finds the end of the last load from the source into this target, whatever happened to its process. */
import { AppError } from '../../errors.ts';
import type { QueryMark } from '../../ports/stores/watches.ts';
import { lastLoaded, markSourceOf } from '../../inputs/server-rows.ts';
import { settledSession, type ToolSession } from './tool-session.ts';
import { reservedName } from '../../service/jobs/option-table.ts';
import type { ExtraColumn } from '../../service/jobs/request/shape.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { QueryColumn } from '../../ports/row-source.ts';

/** Rows that share the highest value, at most: each is remembered, as more of them may come. */
const maxTies = 10_000;

/** Determines the row to continue from, and the mark that a load leaves for the next one. */
export interface Resumption {
  /** rows with this value and above; null: all */
  readonly from: string | null;
  /** Whether the row was loaded before: one of those that have the value `from`. Each is known once. */
  wasLoaded(value: string, digest: string): boolean;
  /** Records a loaded row, in the order of the column. AppError `unprocessable_input` if too many have one value. */
  met(value: string, digest: string): void;
  /** mark of the rows that were read; null: none */
  readonly mark: string | null;
  /** The session, whose rows are committed with the mark. */
  held(session: ToolSession): ToolSession;
  /** The rows are in the target. */
  settle(): Promise<void>;
}

/** AppErrors of the target, which may have to be asked. */
export async function resume(session: ToolSession, place: string): Promise<Resumption> {
  const { request, home, idOrg, idJob, jobUuid } = session;
  const { column, mark: given } = request.after!;
  const { marks } = home;
  const source = markSourceOf(request, place);
  const idWatch = request.watched?.watch ?? null;
  // a run that saves nothing leaves no mark to continue from
  const keeps = request.out !== undefined && !request.dryRun;
  const all = keeps ? await marks.list(idOrg, source) : [];
  const last =
    given === undefined ? await lastLoaded(all, (mark) => isInTarget(session, source, mark)) : null;
  const from = given ?? last?.mark ?? null;
  const before = new Map<string, number>();
  for (const digest of last?.seen ?? []) before.set(digest, (before.get(digest) ?? 0) + 1);
  let mark: string | null = null;
  // rows that have the mark stay known until a higher value comes
  let seen: string[] = [];
  const take = (value: string, digest: string): void => {
    if (value !== mark) seen = [];
    mark = value;
    seen.push(digest);
    if (seen.length > maxTies)
      throw new AppError(
        'unprocessable_input',
        `--after ${column}: more than ${maxTies} rows have the value ${value}: name a column with more distinct values`,
      );
  };
  let loads = false;
  return {
    from,
    wasLoaded(value, digest) {
      const left = before.get(digest) ?? 0;
      if (value !== from || left === 0) return false;
      before.set(digest, left - 1);
      take(value, digest);
      return true;
    },
    met(value, digest) {
      loads = true;
      take(value, digest);
    },
    get mark() {
      return mark;
    },
    held(held) {
      if (!keeps) return held;
      const known = all.map((one) => one.idJob);
      return Object.defineProperties(settledSession(held, held.request), {
        beginCommit: {
          value: async (written: Parameters<ToolSession['beginCommit']>[0]) => {
            if (
              mark !== null &&
              !(await marks.write(idOrg, source, { idJob, jobUuid, idWatch, mark, seen }, known))
            )
              throw new AppError(
                'conflict',
                'another job loaded rows of the same source into this target during the run, so nothing was loaded; run this job again',
              );
            return held.beginCommit(written);
          },
          enumerable: true,
        },
      });
    },
    settle: async () => {
      if (keeps && loads) await marks.settle(idOrg, source, idJob);
    },
  };
}

/**
 * Returns whether the rows of a mark are in the target. For a job that ended between its commit and the report of it, only the target
 * knows. A mark without rows in the target is removed.
 */
async function isInTarget(session: ToolSession, source: string, mark: QueryMark): Promise<boolean> {
  const { home, idOrg } = session;
  const { isPublished } = await import('./reconcile-job.ts');
  const asIt = { ...settledSession(session, session.request), idJob: mark.idJob, jobUuid: mark.jobUuid };
  const isPresent = await isPublished(asIt);
  if (isPresent) await home.marks.settle(idOrg, source, mark.idJob);
  else if (mark.idJob !== session.idJob) await home.marks.remove(idOrg, source, mark.idJob);
  return isPresent;
}

// Chooses the column of rows that holds the documents, and the extra columns that carry the others.

export interface ChosenColumns {
  /** place of the documents among the columns */
  readonly document: number;
  /** places of the others */
  readonly carried: readonly number[];
  /** index of the column that rows are ordered by; null: rows come in any order */
  readonly after: number | null;
}

/** AppError `invalid_option`: it is not clear which, or a column could not be one of a table. */
export function chooseColumns(
  columns: readonly QueryColumn[],
  { xmlColumn, after, extraColumns }: Pick<ToolRequest, 'xmlColumn' | 'after' | 'extraColumns'>,
): ChosenColumns {
  const taken = new Set(extraColumns.map(({ name }) => name.toLowerCase()));
  for (const { name } of columns) {
    if (taken.has(name.toLowerCase()))
      throw refused(
        `the rows of --from have the column ${name} twice, or -R has it, too: SELECT … AS another`,
      );
    taken.add(name.toLowerCase());
  }
  const document = xmlColumn === undefined ? evident(columns) : named('--xml-column', xmlColumn, columns);
  if (columns[document]!.holds === 'other')
    throw refused(`--xml-column ${columns[document]!.name}: holds neither text nor bytes`);
  const carried = columns.flatMap((column, at) => {
    if (at === document) return [];
    const fault = nameFault(column.name);
    if (fault !== null)
      throw refused(`column ${column.name.slice(0, 80)} of --from: ${fault}: SELECT … AS another`);
    return [at];
  });
  const ordering = after === undefined ? null : named('--after', after.column, columns);
  if (ordering === document)
    throw refused('--after: the column of the documents cannot order rows: name another column');
  return { document, carried, after: ordering };
}

/** Returns an extra column as `-R` would define it. */
export function extraOf({ name, type }: QueryColumn): ExtraColumn {
  return { name, type: type as ExtraColumn['type'], kind: 'carried' };
}

function nameFault(name: string): string | null {
  if (name === '' || name.length > 128 || /\p{Cc}/u.test(name)) return 'is not the name of a column';
  return reservedName(name);
}

/** Returns the only column of XML; otherwise the only one of text or bytes. */
function evident(columns: readonly QueryColumn[]): number {
  const [xml, others] = [['xml'], ['text', 'bytes']].map((kinds) =>
    columns.flatMap(({ holds }, at) => (kinds.includes(holds) ? [at] : [])),
  ) as [number[], number[]];
  const candidates = xml.length > 0 ? xml : others;
  if (candidates.length === 1) return candidates[0]!;
  const names = candidates.map((at) => columns[at]!.name);
  throw refused(
    candidates.length === 0
      ? `--from: no column holds text, bytes or XML (there are ${columns.map(({ name }) => name).join(', ')})`
      : `--from: documents could be in ${names.join(', ')}: name one with --xml-column`,
  );
}

function named(option: string, name: string, columns: readonly QueryColumn[]): number {
  const exact = columns.findIndex((column) => column.name === name);
  const at =
    exact < 0 ? columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase()) : exact;
  if (at >= 0) return at;
  throw refused(
    `${option} ${name}: there is no such column (there are ${columns.map((column) => column.name).join(', ')})`,
  );
}

function refused(detail: string): AppError {
  return new AppError('invalid_option', detail);
}
