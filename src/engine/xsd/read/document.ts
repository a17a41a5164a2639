/** Schema documents: the files of a set, each read for a target namespace. */
import type { SchemaLocation, XsdReport } from '../report.ts';
import type { CatalogAnswer } from './oasis-catalog.ts';
import { leavesSet, type SchemaLocator } from './location.ts';
import {
  attributeOf,
  firstXsdChild,
  xmlNamespaceUri,
  type DocumentReference,
  type SchemaFile,
} from './file.ts';
import type { DerivationControl, SchemaDocument } from '../components/terms.ts';
import { collapse } from './white-space.ts';

/** A reference from document to document that was found in the set. */
export interface DocumentLink {
  readonly reference: DocumentReference;
  readonly from: SchemaDocument;
  readonly to: SchemaDocument;
}

export interface MissingDocument {
  readonly reference: DocumentReference;
  readonly from: SchemaDocument;
  /** namespace of the components that it would have held */
  readonly namespace: string;
  /** index of its diagnostic */
  readonly diagnostic: number;
}

export interface DocumentSet {
  /** breadth first from the entries */
  readonly documents: readonly SchemaDocument[];
  readonly links: readonly DocumentLink[];
  readonly missing: readonly MissingDocument[];
}

const derivationControls: readonly DerivationControl[] = [
  'extension',
  'restriction',
  'substitution',
  'list',
  'union',
];
const noControls: ReadonlySet<DerivationControl> = new Set();

/** Reads a block, final, blockDefault or finalDefault value; absent = `byDefault`. */
export function readControls(
  value: string | undefined,
  byDefault: ReadonlySet<DerivationControl> = noControls,
): ReadonlySet<DerivationControl> {
  if (value === undefined) return byDefault;
  const text = collapse(value);
  if (text === '') return noControls;
  if (text === '#all') return new Set(derivationControls);
  return new Set(
    text
      .split(' ')
      .filter((word): word is DerivationControl => (derivationControls as string[]).includes(word)),
  );
}

function createDocument(file: SchemaFile, targetNamespace: string): SchemaDocument {
  const { root } = file;
  const imports = new Set<string>();
  for (const reference of file.references) if (reference.kind === 'import') imports.add(reference.namespace);
  return {
    file,
    targetNamespace,
    chameleon: targetNamespace !== file.targetNamespace,
    elementsQualified: collapse(attributeOf(root, 'elementFormDefault') ?? '') === 'qualified',
    attributesQualified: collapse(attributeOf(root, 'attributeFormDefault') ?? '') === 'qualified',
    blockDefault: readControls(attributeOf(root, 'blockDefault')),
    finalDefault: readControls(attributeOf(root, 'finalDefault')),
    defaultOpenContent: firstXsdChild(root, 'defaultOpenContent'),
    defaultAttributes: attributeOf(root, 'defaultAttributes'),
    imports,
    redefined: null,
  };
}

/**
 * Follows all references from the entries. Nothing but the files given is ever read.
 *
 * Throws `XsdSetError` with the fault of each file reached that is not well-formed or no XSD document.
 */
export function loadDocuments(
  entries: readonly SchemaFile[],
  locator: SchemaLocator,
  missingIs: 'fail' | 'wildcard',
  report: XsdReport,
): DocumentSet {
  const byKey = new Map<string, SchemaDocument>();
  const documents: SchemaDocument[] = [];
  const links: DocumentLink[] = [];
  const missing: MissingDocument[] = [];
  const faulty = new Set<SchemaFile>();
  const documentFor = (file: SchemaFile, namespace: string) => {
    const key = `${namespace} ${file.name}`;
    let document = byKey.get(key);
    if (document === undefined) {
      document = createDocument(file, namespace);
      byKey.set(key, document);
      documents.push(document);
      if (file.fault !== null && !faulty.has(file)) {
        // one file is a document for each namespace that it is included in
        faulty.add(file);
        report.fatalDiagnostic(file.fault);
      }
    }
    return document;
  };
  for (const entry of entries) documentFor(entry, entry.targetNamespace);
  for (let i = 0; i < documents.length; i++) {
    const from = documents[i]!;
    for (const reference of from.file.references) {
      const at = { node: reference.node, document: from };
      const isImport = reference.kind === 'import';
      if (isImport && reference.namespace === from.targetNamespace) {
        report.error(
          'xsd_import_of_own_namespace',
          'An import must name another namespace than its document has',
          at,
        );
        continue;
      }
      const target = locator.locate(from.file, reference);
      if (target === undefined) {
        const mapped = locator.mapped(reference);
        if (mapped !== null) reportMapping(mapped, reference, at, report);
        if (isImport && (reference.location === null || reference.namespace === xmlNamespaceUri)) {
          if (reference.namespace !== xmlNamespaceUri)
            missing.push({ reference, from, namespace: reference.namespace, diagnostic: -1 });
          continue;
        }
        if (reference.location === null) continue;
        missing.push({
          reference,
          from,
          namespace: isImport ? reference.namespace : from.targetNamespace,
          diagnostic: report.diagnostics.length,
        });
        const message = `The document "${reference.location}" is not in the set`;
        if (missingIs === 'fail' && leavesSet(from.file.name, reference.location)) {
          const advice = 'give the folder that holds both, as an archive or by its path';
          report.fatal('xsd_missing_document', `${message}, and its location lies outside it: ${advice}`, at);
        } else report.warning('xsd_missing_document', message, at);
        continue;
      }
      const expected = isImport ? reference.namespace : from.targetNamespace;
      const chameleon = !isImport && target.targetNamespace === '';
      if (target.targetNamespace !== expected && !chameleon && target.fault === null) {
        const has =
          target.targetNamespace === ''
            ? 'no target namespace'
            : `the target namespace ${target.targetNamespace}`;
        const wanted = expected === '' ? 'none' : expected;
        report.error('xsd_namespace_mismatch', `${target.name} has ${has}, not ${wanted}`, at);
        if (isImport) continue;
      }
      const to = documentFor(target, chameleon ? from.targetNamespace : target.targetNamespace);
      links.push({ reference, from, to });
    }
  }
  // components missing because a file cannot be read are not faults of the files that need them
  if (faulty.size > 0) report.throwIfUnusable();
  return { documents, links, missing };
}

/** An entry of a catalog that leads to nothing. */
function reportMapping(
  { path, uri, catalog, line }: CatalogAnswer,
  { location, namespace }: DocumentReference,
  at: SchemaLocation,
  report: XsdReport,
): void {
  const what = location === null || location === '' ? namespace : location;
  const where = path === null ? 'which lies outside of the set' : `and ${path} is not in the set`;
  report.warning(
    'xsd_catalog_target',
    `${catalog}, line ${line}, says that "${what}" is "${uri}", ${where}`,
    at,
  );
}

/** The document of the built-in xml: attributes, for sets without one. */
export function xmlNamespaceDocument(file: SchemaFile): SchemaDocument {
  return createDocument(file, xmlNamespaceUri);
}

/** True for files of the set that are not XSD documents. */
function isOther({ fault }: SchemaFile): boolean {
  return fault?.code === 'xsd_not_a_schema';
}

/**
 * Returns the XSD files that no other file includes, imports or redefines. For files that only refer to each other in a circle, returns
 * the first of each circle that no file outside refers to.
 */
export function defaultEntries(files: readonly SchemaFile[], locator: SchemaLocator): readonly SchemaFile[] {
  const targets = new Map<SchemaFile, SchemaFile[]>();
  const referred = new Set<SchemaFile>();
  for (const file of files) {
    const found: SchemaFile[] = [];
    for (const reference of file.references) {
      const target = locator.locate(file, reference);
      if (target === undefined || target === file) continue;
      found.push(target);
      referred.add(target);
    }
    targets.set(file, found);
  }
  const reach = (from: SchemaFile, reached: Set<SchemaFile>) => {
    reached.add(from);
    const pending = [from];
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      for (const target of targets.get(file) ?? []) {
        if (reached.has(target)) continue;
        reached.add(target);
        pending.push(target);
      }
    }
  };
  const entries = files.filter((file) => !referred.has(file) && !isOther(file));
  const reached = new Set<SchemaFile>();
  for (const entry of entries) reach(entry, reached);
  const candidates: SchemaFile[] = [];
  for (const file of files) {
    if (reached.has(file) || isOther(file)) continue;
    candidates.push(file);
    reach(file, reached);
  }
  // a circle may lead to candidates before it, and to none behind it
  const led = new Set<SchemaFile>();
  const circles: SchemaFile[] = [];
  for (const file of candidates.toReversed()) {
    if (led.has(file)) continue;
    circles.push(file);
    reach(file, led);
  }
  return [...entries, ...circles.toReversed()];
}
