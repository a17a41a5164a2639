/** What a tool did, for the job record and the summary. */
export interface Conversion {
  readonly origin: number | null;
  readonly logical: number | null;
  readonly documents: number;
  readonly rejected: number;
  /** by table name; tables without rows are left out */
  readonly rows: Readonly<Record<string, number>>;
  /** distinct paths of the mapping, and paths met that it does not know */
  readonly mapped: number;
  readonly unknown: number;
  readonly bytes: number;
  readonly steps: readonly (readonly [step: string, seconds: number])[];
}
