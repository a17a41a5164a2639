/** Resolves a schemaLocation or a namespace to a file of the set. */
import { xmlNamespaceUri, type DocumentReference, type SchemaFile } from './file.ts';
import { createXmlCatalogs, type CatalogAnswer } from './oasis-catalog.ts';

/** Finds the uploaded file that a schemaLocation or namespace means. */
export interface SchemaLocator {
  /** Returns undefined if no file of the set matches. */
  locate(from: SchemaFile, reference: DocumentReference): SchemaFile | undefined;
  /** Returns the answer of a catalog in the set for a reference that cannot be resolved, or null if no catalog has one. */
  mapped(reference: DocumentReference): CatalogAnswer | null;
}

/** Path of `location` seen from the file named `from`; null when it is a URL with a scheme, absolute, or leaves the set. */
function resolveLocation(from: string, location: string): string | null {
  const path = pathOf(location);
  if (/^[a-z][a-z0-9+.-]*:/iu.test(path) || path.startsWith('/')) return null;
  const segments = from.split('/').slice(0, -1);
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      if (segments.pop() === undefined) return null;
    } else segments.push(segment);
  }
  return segments.join('/');
}

/** True for locations that name a place of the local machine outside the set: an absolute path, a `file:` URL, `..` above the top. */
export function leavesSet(from: string, location: string): boolean {
  const path = pathOf(location);
  if (/^file:/iu.test(path) || path.startsWith('/') || /^[a-z]:\//iu.test(path)) return true;
  return !/^[a-z][a-z0-9+.-]*:/iu.test(path) && resolveLocation(from, location) === null;
}

function pathOf(location: string): string {
  const path = location.replace(/[?#].*$/su, '').replaceAll('\\', '/');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Tries in this order: the path relative to the referring file; a catalog's entry for the location; the base name (of several candidates
 * the one whose path agrees longest from the end, if only one does); for an import, a catalog's entry for the namespace, then the only
 * file that leads the namespace. If there is a choice, includes prefer a file of the same or no namespace, and imports one of the
 * namespace they name.
 */
export function createSchemaLocator(files: readonly SchemaFile[]): SchemaLocator {
  const byName = new Map<string, SchemaFile>();
  const byBaseName = new Map<string, SchemaFile[]>();
  const byNamespace = new Map<string, SchemaFile[]>();
  for (const file of files) {
    byName.set(file.name, file);
    append(byBaseName, file.name.slice(file.name.lastIndexOf('/') + 1), file);
    append(byNamespace, file.targetNamespace, file);
  }
  const catalogs = createXmlCatalogs(
    files.flatMap(({ name, catalog }) => (catalog === null ? [] : { name, root: catalog })),
  );
  const fileOf = (answer: CatalogAnswer | null): SchemaFile | undefined =>
    answer === null || answer.path === null ? undefined : byName.get(answer.path);
  const leaders = new Map<string, SchemaFile | undefined>();

  const byPath = (from: SchemaFile, location: string) => {
    const name = resolveLocation(from.name, location);
    return name === null ? undefined : byName.get(name);
  };

  const byBase = (from: SchemaFile, reference: DocumentReference, location: string) => {
    const wanted = pathOf(location).split('/').filter(Boolean);
    const candidates = (byBaseName.get(wanted[wanted.length - 1] ?? '') ?? []).filter(
      (candidate) => candidate !== from && fits(from, reference, candidate),
    );
    if (candidates.length < 2) return candidates[0];
    let best: SchemaFile | undefined;
    let bestLength = 0;
    for (const candidate of candidates) {
      const segments = candidate.name.split('/');
      let length = 0;
      while (
        length < wanted.length &&
        segments[segments.length - 1 - length] === wanted[wanted.length - 1 - length]
      )
        length++;
      if (length > bestLength) [best, bestLength] = [candidate, length];
      else if (length === bestLength) best = undefined;
    }
    return best;
  };

  /** Returns the only file of a namespace that no other file of it includes or redefines. */
  const leaderOf = (namespace: string) => {
    if (leaders.has(namespace)) return leaders.get(namespace);
    const members = byNamespace.get(namespace) ?? [];
    const included = new Set<SchemaFile>();
    for (const member of members) {
      for (const reference of member.references) {
        if (reference.kind === 'import' || reference.location === null) continue;
        const target = byPath(member, reference.location);
        if (target !== undefined && target !== member) included.add(target);
      }
    }
    const heads = members.filter((member) => !included.has(member));
    const leader = heads.length === 1 ? heads[0] : undefined;
    leaders.set(namespace, leader);
    return leader;
  };

  return {
    locate(from, reference) {
      const { location } = reference;
      if (location !== null && location !== '') {
        const said = byPath(from, location) ?? fileOf(catalogs.location(location));
        const found = said ?? byBase(from, reference, location);
        if (found !== undefined) return found;
      }
      if (reference.kind !== 'import' || reference.namespace === from.targetNamespace) return undefined;
      if (reference.namespace === '') return undefined;
      return fileOf(catalogs.namespace(reference.namespace)) ?? leaderOf(reference.namespace);
    },
    mapped({ kind, location, namespace }) {
      const answer = location === null || location === '' ? null : catalogs.location(location);
      return answer ?? (kind === 'import' && namespace !== '' ? catalogs.namespace(namespace) : null);
    },
  };
}

/** Includes want a file of the same or no namespace, imports one of the namespace they name. */
function fits(from: SchemaFile, reference: DocumentReference, { targetNamespace }: SchemaFile): boolean {
  if (reference.kind === 'import') return targetNamespace === reference.namespace;
  return targetNamespace === from.targetNamespace || targetNamespace === '';
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** The xml: attributes, for sets that do not bring their own xml.xsd (the schema document at the namespace's address). */
export const xmlNamespaceSchema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${xmlNamespaceUri}">
<xs:attribute name="lang"><xs:simpleType><xs:union memberTypes="xs:language"><xs:simpleType><xs:restriction base="xs:string">
<xs:enumeration value=""/></xs:restriction></xs:simpleType></xs:union></xs:simpleType></xs:attribute>
<xs:attribute name="space"><xs:simpleType><xs:restriction base="xs:NCName"><xs:enumeration value="default"/>
<xs:enumeration value="preserve"/></xs:restriction></xs:simpleType></xs:attribute>
<xs:attribute name="base" type="xs:anyURI"/><xs:attribute name="id" type="xs:ID"/>
<xs:attributeGroup name="specialAttrs"><xs:attribute ref="xml:base"/><xs:attribute ref="xml:lang"/><xs:attribute ref="xml:space"/>
<xs:attribute ref="xml:id"/></xs:attributeGroup></xs:schema>`;
