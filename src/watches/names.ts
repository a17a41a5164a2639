/** Decides which objects of a location a watch accepts. */
import { matchedLength, parsePathPattern } from '../files/path-pattern.ts';

/**
 * Pattern of names that are not documents: schemas and parts of DTDs, files that are still written, checksums and marks, text, tables
 * and pictures.
 */
const others =
  /\.(?:xsd|wsdl|dtd|ent|mod|cat|tmp|temp|part|partial|filepart|crdownload|swp|bak|lock|md5|sha\d*|asc|sig|done|ok|ready|txt|md|log|jsonl?|csv|tsv|parquet|pdf|png|jpe?g|gif)(?:\.gz)?$|~$/i;

/** Returns a test for names below the location, '/'-separated. AppError `invalid_option` if the pattern is invalid. */
export function nameTest(pattern: string | null): (name: string) => boolean {
  // the job determines the type of any other file by its content
  if (pattern === null) return (name) => !others.test(name) && !isHidden(name);
  const parsed = parsePathPattern(pattern);
  // a name without a wildcard is that one file
  if (parsed === null) return (name) => name === pattern;
  const above = parsed.folder === '.' ? '' : `${parsed.folder}/`;
  return (name) =>
    name.startsWith(above) && matchedLength(parsed, name.slice(above.length)) === name.length - above.length;
}

function isHidden(name: string): boolean {
  return name.startsWith('.') || name.includes('/.');
}

/** Names of objects that no file could have, which a disk must take before they are loaded. */
export function isPlainName(name: string): boolean {
  return name
    .split('/')
    .every(
      (part) =>
        part !== '' &&
        part !== '.' &&
        part !== '..' &&
        !part.includes('\0') &&
        new TextEncoder().encode(part).byteLength <= 255,
    );
}

/** Returns the name that a `.gz` file has after unpacking. */
export function unpacked(name: string): string {
  return name.replace(/\.gz$/i, '');
}

/**
 * Whether a document, by its name in `_documents`, is one of these files, a part of one (`--row-tag`), or a member of an archive among
 * them.
 */
export function documentsOf(files: Iterable<string>): (document: string) => boolean {
  const names = new Set<string>();
  for (const file of files) names.add(file).add(unpacked(file));
  return (document) => {
    if (names.has(document) || names.has(document.replace(/(?:#\d+)+$/, ''))) return true;
    for (let at = document.indexOf('/'); at >= 0; at = document.indexOf('/', at + 1))
      if (names.has(document.slice(0, at))) return true;
    return false;
  };
}
