/** A logical schema that a target was loaded by. */
export interface TargetLoad {
  /** identity of the metadata database that numbers the other two */
  readonly installation: string;
  readonly idSch: number | null;
  readonly idLschma: number | null;
  /** whether documents that it loaded are still there */
  readonly holds: boolean;
}
