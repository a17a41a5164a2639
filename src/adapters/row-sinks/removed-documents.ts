/** Documents whose rows were taken out of a target. */
export interface RemovedDocuments {
  readonly documents: number;
  /** different names of theirs */
  readonly names: number;
  /** by table; tables that lost none are left out */
  readonly rows: Readonly<Record<string, number>>;
}
