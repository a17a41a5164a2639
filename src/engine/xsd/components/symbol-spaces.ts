/** The symbol spaces of a set: its global components by kind and name. */
import { clarkName, type QName } from '../../model/source-model.ts';
import type { XmlElement } from '../../xml/tree.ts';
import type { GlobalDeclaration, SchemaDocument, SymbolSpace } from './terms.ts';
import { orderByDependency } from '../derive/dependency-order.ts';
import type { XsdReport } from '../report.ts';
import { DuplicateComponents } from './duplicate-components.ts';
import type { DocumentSet } from '../read/document.ts';
import { attributeOf, isXsd, type DocumentReference, type SchemaFile } from '../read/file.ts';
import { collapse } from '../read/white-space.ts';

export interface SymbolSpaces {
  findDeclaration(space: SymbolSpace, key: string): GlobalDeclaration | undefined;
  /** all declarations, including redefined ones, in document order */
  readonly declarations: readonly GlobalDeclaration[];
  /** true if the declaration's name refers to it outside of redefinitions */
  isCurrent(declaration: GlobalDeclaration): boolean;
}

const spaceOf: Readonly<Record<string, SymbolSpace>> = {
  simpleType: 'type',
  complexType: 'type',
  element: 'element',
  attribute: 'attribute',
  group: 'group',
  attributeGroup: 'attributeGroup',
  notation: 'notation',
};

/** Returns the declaration that a top-level element of a document makes, or null if it declares nothing with a name. */
function declarationOf(node: XmlElement, document: SchemaDocument, replaces: GlobalDeclaration | null) {
  const space = spaceOf[node.name.localName];
  const localName = collapse(attributeOf(node, 'name') ?? '');
  if (space === undefined || localName === '') return null;
  const name: QName = { namespaceUri: document.targetNamespace, localName };
  const declaration: GlobalDeclaration = { node, document, space, name, component: null, replaces };
  return { declaration, key: clarkName(name) };
}

/** Enters the global components of all documents, then redefinitions, those of inner documents first. */
export function indexSymbolSpaces(set: DocumentSet, report: XsdReport): SymbolSpaces {
  const spaces: Record<SymbolSpace, Map<string, GlobalDeclaration>> = {
    type: new Map(),
    element: new Map(),
    attribute: new Map(),
    group: new Map(),
    attributeGroup: new Map(),
    notation: new Map(),
  };
  const declarations: GlobalDeclaration[] = [];
  const isCopy = createCopyCheck();
  const duplicates = new DuplicateComponents();

  for (const document of set.documents) {
    for (const child of document.file.root.children) {
      if (!isXsd(child)) continue;
      const found = declarationOf(child, document, null);
      if (found === null) continue;
      const { declaration, key } = found;
      const space = spaces[declaration.space];
      const other = space.get(key);
      if (other === undefined) space.set(key, declaration);
      else if (other.document !== document && isCopy(other.document.file, document.file)) continue;
      else duplicates.add(declaration, other);
      declarations.push(declaration);
    }
  }

  const redefine = (reference: DocumentReference, from: SchemaDocument, within: ReadonlySet<SchemaFile>) => {
    for (const child of reference.node.children) {
      if (!isXsd(child)) continue;
      const name = clarkName({
        namespaceUri: from.targetNamespace,
        localName: collapse(attributeOf(child, 'name') ?? ''),
      });
      const spaceName = spaceOf[child.name.localName];
      if (spaceName === undefined) continue;
      const original = spaces[spaceName].get(name);
      const at = { node: child, document: from };
      if (
        original === undefined ||
        original.document.file === from.file ||
        !within.has(original.document.file)
      ) {
        if (reference.kind === 'override') continue;
        if (original === undefined) {
          report.fatal(
            'xsd_redefined_component_missing',
            `There is no ${child.name.localName} of that name to redefine`,
            at,
            name,
          );
        } else duplicates.add({ ...at, space: spaceName, name: original.name }, original);
        continue;
      }
      const isOverride = reference.kind === 'override';
      const document: SchemaDocument = isOverride
        ? from
        : {
            ...from,
            redefined: new Map([[`${spaceName} ${name}`, original]]),
            redefinedBy: derivationIn(child),
          };
      const redefined = declarationOf(child, document, original);
      if (redefined === null) continue;
      spaces[spaceName].set(name, redefined.declaration);
      declarations.push(redefined.declaration);
    }
  };

  const linksFrom = new Map<SchemaDocument, { reference: DocumentReference; to: SchemaDocument }[]>();
  let redefinitions = 0;
  for (const { from, reference, to } of set.links) {
    if (reference.kind === 'import') continue;
    if (reference.kind !== 'include') redefinitions++;
    const list = linksFrom.get(from);
    if (list === undefined) linksFrom.set(from, [{ reference, to }]);
    else list.push({ reference, to });
  }
  if (redefinitions > 0) {
    const targets = (document: SchemaDocument) => (linksFrom.get(document) ?? []).map(({ to }) => to);
    for (const document of orderByDependency(set.documents, targets, { onCycle: () => {} })) {
      for (const { reference, to } of linksFrom.get(document) ?? []) {
        if (reference.kind === 'include') continue;
        redefine(reference, document, reachable(to, targets));
      }
    }
  }
  duplicates.report(report);
  return {
    findDeclaration: (space, key) => spaces[space].get(key),
    declarations,
    isCurrent: (declaration) => spaces[declaration.space].get(clarkName(declaration.name)) === declaration,
  };
}

/**
 * Returns a test that is true if a component comes from two copies of one file, which is not a conflict. Each file is compared only once
 * with those of its length, however many components it has.
 */
function createCopyCheck(): (a: SchemaFile, b: SchemaFile) => boolean {
  const originals = new Map<SchemaFile, SchemaFile>();
  const byLength = new Map<number, SchemaFile[]>();
  const originalOf = (file: SchemaFile): SchemaFile => {
    let original = originals.get(file);
    if (original !== undefined) return original;
    const candidates = byLength.get(file.bytes.length) ?? [];
    original = candidates.find(({ bytes }) => sameBytes(bytes, file.bytes)) ?? file;
    if (original === file) byLength.set(file.bytes.length, [...candidates, file]);
    originals.set(file, original);
    return original;
  };
  return (a, b) => originalOf(a) === originalOf(b);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function reachable(
  start: SchemaDocument,
  targets: (document: SchemaDocument) => readonly SchemaDocument[],
): ReadonlySet<SchemaFile> {
  const found = new Set([start]);
  for (const document of found) for (const target of targets(document)) found.add(target);
  return new Set([...found].map(({ file }) => file));
}

/** The restriction or extension that a type definition consists of. */
function derivationIn(type: XmlElement): XmlElement | undefined {
  for (const child of type.children) {
    if (!isXsd(child)) continue;
    const { localName } = child.name;
    if (localName === 'restriction' || localName === 'extension') return child;
    if (localName === 'simpleContent' || localName === 'complexContent') return derivationIn(child);
  }
  return undefined;
}
