/** The SQL query for the logical schemas that loaded a target. */
import { sideTableNames } from '../model/side-tables.ts';

/**
 * Returns the columns of `TargetLoad` by logical schema, the one that loaded last first. The ledger has deletions with negative numbers.
 * Documents are only searched if the answer depends on them.
 */
export function targetLoadsQuery(relation: (table: string) => string): string {
  const loads = relation(sideTableNames.loads);
  const documents = relation(sideTableNames.documents);
  return `WITH used AS (
      SELECT installation, id_sch, id_lschma, model_sha256, max(published_at) AS published_at, max(job) AS job
        FROM ${loads} WHERE documents >= 0 GROUP BY installation, id_sch, id_lschma, model_sha256)
    SELECT u.installation, u.id_sch AS "idSch", u.id_lschma AS "idLschma", u.model_sha256 AS "modelHash",
           CASE WHEN (SELECT count(*) FROM used) > 1 THEN EXISTS (
             SELECT 1 FROM ${loads} l JOIN ${documents} d ON d.job_uuid = l.job_uuid
              WHERE l.installation = u.installation AND (l.id_sch = u.id_sch OR (l.id_sch IS NULL AND u.id_sch IS NULL))
                AND (l.id_lschma = u.id_lschma OR (l.id_lschma IS NULL AND u.id_lschma IS NULL)) AND (l.model_sha256 = u.model_sha256 OR (l.model_sha256 IS NULL AND u.model_sha256 IS NULL))) ELSE true END AS holds
      FROM used u ORDER BY u.published_at DESC, u.job DESC`;
}
