/** The progress of loads of rows: for each query and target, the last value of the column that its rows are ordered by. */

export interface QueryMark {
  readonly idJob: number;
  /** identifies the job in the target */
  readonly jobUuid: string;
  /** the highest value, as a cell has it */
  readonly mark: string;
  /** digests of the rows that have it */
  readonly seen: readonly string[];
  /** the rows are known to be in the target; false: the target must be queried */
  readonly settled: boolean;
}

export interface QueryMarkStore {
  /** `source`: hash of the query and its target. Returns marks of the newest jobs first. */
  list(idOrg: number, source: string): Promise<readonly QueryMark[]>;
  /**
   * Called just before a job's rows are committed; `idWatch`: the watch that owns the mark, which is removed with it. Returns false if
   * another job has written a mark that is not in `known`; nothing is written then.
   */
  write(
    idOrg: number,
    source: string,
    mark: Omit<QueryMark, 'settled'> & { readonly idWatch: number | null },
    known: readonly number[],
  ): Promise<boolean>;
  /** The job's rows are in the target: its mark is the only one from then on. */
  settle(idOrg: number, source: string, idJob: number): Promise<void>;
  /** The job's rows are not in the target. */
  remove(idOrg: number, source: string, idJob: number): Promise<void>;
}
