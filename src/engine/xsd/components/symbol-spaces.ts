/** The symbol spaces of a set: its global components by kind and name. */
import { clarkName, type QName } from '../../model/source-model.ts';
import type { XmlElement } from '../../xml/tree.ts';
import type {
  GlobalDeclaration,
  SchemaDocument,
  SymbolSpace,
  ComponentKinds,
  Origin,
  NotationDeclaration,
} from './terms.ts';
import { orderByDependency } from '../derive/dependency-order.ts';
import type { XsdReport } from '../report.ts';
import type { DocumentSet } from '../read/document.ts';
import {
  attributeOf,
  isXsd,
  type DocumentReference,
  type SchemaFile,
  xmlNamespaceUri,
} from '../read/file.ts';
import { xsdNamespace } from '../../model/name-labels.ts';
import { collapse } from '../read/grammar.ts';

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

// References from component to component, by qualified name.

/** Resolves QName references to global components (XSD Part 1 §3.15.3, src-resolve). */
export interface ReferenceResolver {
  /** Expands a QName in the scope of its element; null, with an error, when its prefix is not bound. */
  expand(qualifiedName: string, at: Origin): QName | null;
  has(space: SymbolSpace, name: QName): boolean;
  /** Returns null, with a diagnostic, if there is no such component; `name` is then the name that was looked up (null without). */
  findComponent<S extends SymbolSpace>(space: S, qualifiedName: string, at: Origin): Found<ComponentKinds[S]>;
}

interface Found<T> {
  readonly component: T | null;
  readonly name: QName | null;
}

/** Looks up the components that the XSD namespace itself defines. */
type BuiltInLookup = (space: SymbolSpace, localName: string) => ComponentKinds[SymbolSpace] | null;

export function createReferenceResolver(
  symbols: SymbolSpaces,
  set: DocumentSet,
  builtIn: BuiltInLookup,
  missingIs: 'fail' | 'wildcard',
  report: XsdReport,
): ReferenceResolver {
  const missingByNamespace = new Map(set.missing.map((missing) => [missing.namespace, missing]));
  const reportedImports = new Set<string>();

  const expand = (qualifiedName: string, at: Origin): QName | null => {
    const text = collapse(qualifiedName);
    const colon = text.indexOf(':');
    const prefix = colon < 0 ? '' : text.slice(0, colon);
    let namespaceUri = prefix === 'xml' ? xmlNamespaceUri : at.node.namespaces.get(prefix);
    if (namespaceUri === undefined && prefix !== '') {
      report.fatal('xsd_unbound_prefix', `The prefix of "${text}" is not declared`, at, text);
      return null;
    }
    namespaceUri ??= '';
    if (namespaceUri === '' && at.document.chameleon) namespaceUri = at.document.targetNamespace;
    return { namespaceUri, localName: text.slice(colon + 1) };
  };

  const reportMissing = (space: SymbolSpace, name: QName, at: Origin) => {
    const path = clarkName(name);
    const missing = missingByNamespace.get(name.namespaceUri);
    if (missing === undefined) {
      const message = `There is no ${space} named ${path} in the set`;
      if (missingIs === 'wildcard')
        report.warning('xsd_unknown_component', `${message}; anything is allowed in its place`, at, path);
      else report.fatal('xsd_unknown_component', message, at, path);
      return;
    }
    const { location } = missing.reference;
    const where = location === null ? `of the namespace ${name.namespaceUri}` : `"${location}"`;
    const message = `The ${space} ${path} is not in the set; the document ${where}, which may declare it, is missing`;
    if (missingIs === 'wildcard') {
      report.warning('xsd_missing_component', `${message}; anything is allowed in its place`, at, path);
      return;
    }
    report.fatal('xsd_missing_component', message, at, path);
    const diagnostic = report.diagnostics[missing.diagnostic];
    if (diagnostic !== undefined)
      report.diagnostics[missing.diagnostic] = { ...diagnostic, severity: 'error' };
  };

  return {
    expand,
    has: (space, name) => symbols.findDeclaration(space, clarkName(name)) !== undefined,
    findComponent<S extends SymbolSpace>(
      space: S,
      qualifiedName: string,
      at: Origin,
    ): Found<ComponentKinds[S]> {
      const name = expand(qualifiedName, at);
      if (name === null) return { component: null, name };
      if (name.namespaceUri === xsdNamespace) {
        const component = builtIn(space, name.localName) as ComponentKinds[S] | null;
        if (component !== null && name.localName === 'precisionDecimal') {
          const message = 'XSD has no type precisionDecimal; decimal is used instead';
          report.error('xsd_unknown_component', message, at, clarkName(name));
        }
        if (component !== null) return { component, name };
      }
      const key = clarkName(name);
      const { redefined, redefinedBy } = at.document;
      const meansRedefined = space !== 'type' || at.node === redefinedBy;
      const declaration =
        (meansRedefined ? redefined?.get(`${space} ${key}`) : undefined) ??
        symbols.findDeclaration(space, key);
      if (declaration === undefined) {
        reportMissing(space, name, at);
        return { component: null, name };
      }
      const { document } = at;
      if (name.namespaceUri !== document.targetNamespace && !document.imports.has(name.namespaceUri)) {
        const reported = `${document.file.name} ${name.namespaceUri}`;
        if (!reportedImports.has(reported)) {
          reportedImports.add(reported);
          const namespace = name.namespaceUri === '' ? 'no namespace' : `the namespace ${name.namespaceUri}`;
          report.error(
            'xsd_not_imported',
            `The document refers to ${key} but does not import ${namespace}`,
            at,
            key,
          );
        }
      }
      return { component: declaration.component as ComponentKinds[S], name };
    },
  };
}

// Reports components that a set declares twice. Two versions of one file repeat all of its components, so only one message is reported
// for two files.

interface Duplicate {
  readonly second: Origin & { readonly space: SymbolSpace; readonly name: QName };
  readonly first: Origin;
}

class DuplicateComponents {
  readonly #found: Duplicate[] = [];

  add(second: Duplicate['second'], first: Origin): void {
    this.#found.push({ second, first });
  }

  /** One error for each within a file, one for all that two files have in common. */
  report(report: XsdReport): void {
    const { within = [], between = [] } = Object.groupBy(this.#found, ({ second, first }) =>
      fileOf(second) === fileOf(first) ? 'within' : 'between',
    );
    for (const one of within) say(report, [one]);
    const byFile = Map.groupBy(between, ({ second }) => fileOf(second));
    for (const duplicates of byFile.values())
      for (const ofTwo of Map.groupBy(duplicates, ({ first }) => fileOf(first)).values()) say(report, ofTwo);
  }
}

function fileOf({ document }: Origin): Origin['document']['file'] {
  return document.file;
}

const entryAdvice = '; --entry FILE names the file at which to enter the set';

function say(report: XsdReport, duplicates: readonly Duplicate[]): void {
  const [{ second, first }, ...others] = duplicates as [Duplicate, ...Duplicate[]];
  const location = `${fileOf(first).name}, line ${first.node.line}`;
  const what = `A second ${second.space} named ${second.name.localName}`;
  const message =
    others.length === 0
      ? `${what}; the first, at ${location}, is kept${fileOf(first) === fileOf(second) ? '' : entryAdvice}`
      : `${what}, and ${others.length} more that both files declare; the first, at ${location}, is kept, and so are the ` +
        `others there: omit one of the two files${entryAdvice}`;
  report.error('xsd_duplicate_component', message, second, clarkName(second.name));
}

// Notation declarations.

/** Makes a notation declaration (XSD Part 1 §3.12); only its name matters here. */
export function createNotation({ name, node, document }: GlobalDeclaration): NotationDeclaration {
  return { name, origin: { node, document } };
}
