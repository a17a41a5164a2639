/** By what staging is known to be ours: a name alone may be anybody's. */
import { standardLiteral } from '../../../../engine/sql/dialect.ts';

/** A regular expression: how tokens begin, of which each attempt at a job has its own. */
export const stagingPattern = '^_svc_staging_[0-9]+_[0-9a-f]{8}';

/** In front of the token in the comment of an attempt's schema, of its tables in the target's, and of its role. */
export const markStart = 'staging of conversion-job-service: ';

/** The comment, quoted. */
export function stagingMark(token: string): string {
  return standardLiteral(markStart + token);
}
