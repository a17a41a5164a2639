/** A logical schema that a target was loaded by. */
export interface TargetLoad {
  /** identity of the metadata database that has given out the two numbers */
  readonly installation: string;
  readonly idSch: number | null;
  readonly idLschma: number | null;
  /** SHA-256 of its model, which identifies it */
  readonly modelHash: string | null;
  /** whether documents that it loaded are still there */
  readonly holds: boolean;
}
