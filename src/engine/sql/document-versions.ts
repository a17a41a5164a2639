/** Selects versions of documents in a target that keeps replaced documents. */

/** `all`: all versions; `at`: the versions at a moment, ISO 8601 in UTC, to the millisecond. Absent: the current versions. */
export type DocumentVersions = 'all' | { readonly at: string };

/**
 * Returns a condition on rows of `_documents`, whose columns are prefixed with `of`, or null if all versions are selected. `isMerged`:
 * the table has the columns of merges; `literal`: writes a moment as a literal.
 */
export function versionCondition(
  versions: DocumentVersions | undefined,
  isMerged: boolean,
  of: string,
  literal: (moment: string) => string,
): string | null {
  if (versions === 'all') return null;
  if (versions === undefined) return isMerged ? `${of}valid_to IS NULL` : null;
  const moment = literal(versions.at);
  return isMerged
    ? `coalesce(${of}valid_from, ${of}loaded_at) <= ${moment} AND (${of}valid_to IS NULL OR ${of}valid_to > ${moment})`
    : `${of}loaded_at <= ${moment}`;
}

/** The same of one document; texts as XML Schema writes moments, null for none. */
export function isVersion(
  versions: DocumentVersions | undefined,
  document: { readonly loadedAt: string | null; readonly from: string | null; readonly to: string | null },
): boolean {
  if (versions === 'all') return true;
  if (versions === undefined) return document.to === null;
  const moment = Date.parse(versions.at);
  const from = Date.parse(document.from ?? document.loadedAt ?? '');
  return !(from > moment) && (document.to === null || Date.parse(document.to) > moment);
}
