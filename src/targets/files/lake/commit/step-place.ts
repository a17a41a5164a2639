/** A step of a job, as it is done: where, and what is known of its tables so far. */
import type { NewestVersions } from './newest-versions.ts';
import type { RewritingPlace, RewrittenFiles } from './rewritten-files.ts';

export interface StepPlace extends RewritingPlace {
  readonly newest: NewestVersions;
  /** by folder of a table, of all tries */
  readonly rewritten: Map<string, RewrittenFiles>;
  /** a dead process may have begun it */
  readonly isRecovery: boolean;
}
