/** `--after`: finds the end of the last load from the source into this target, whatever happened to its process. */
import { AppError } from '../../errors.ts';
import type { QueryMark } from '../../ports/stores/query-marks.ts';
import { lastLoaded, markSourceOf } from '../../runtime/rows/marks.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';

/** Rows that share the highest value, at most: each is remembered, as more of them may come. */
const mostTies = 10_000;

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
    if (seen.length > mostTies)
      throw new AppError(
        'unprocessable_input',
        `--after ${column}: more than ${mostTies} rows have the value ${value}: name a column that tells rows apart`,
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
                'another job has loaded from there into this target meanwhile, so nothing was loaded; run this one again',
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
  const { isPublished } = await import('../session/reconcile-job.ts');
  const asIt = { ...settledSession(session, session.request), idJob: mark.idJob, jobUuid: mark.jobUuid };
  const isThere = await isPublished(asIt);
  if (isThere) await home.marks.settle(idOrg, source, mark.idJob);
  else if (mark.idJob !== session.idJob) await home.marks.remove(idOrg, source, mark.idJob);
  return isThere;
}
