/** Compiles the files of an XSD set to its source model: the compiler's steps, in order. */
import { defaultEngineLimits, type EngineLimits } from '../limits.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { clarkName, type SourceModel } from '../model/source-model.ts';
import {
  createAttribute,
  readAttribute,
  createAttributeGroup,
  deriveAttributeGroups,
  readAttributeGroup,
} from './components/attributes.ts';
import { createBuiltInTypes } from './values/built-in-types.ts';
import { createComplexType, readComplexType } from './components/complex-type.ts';
import { deriveComplexTypes } from './derive/complex-type-derivation.ts';
import type {
  AttributeDeclaration,
  AttributeGroup,
  ElementDeclaration,
  GlobalDeclaration,
  ModelGroupDefinition,
  TypeDefinition,
} from './components/terms.ts';
import { checkComponents, reportInconsistent } from './declaration-checks.ts';
import { createContentSummarizer } from './derive/content-summary.ts';
import { createGlobalElement, readElement } from './components/element-declaration.ts';
import {
  createModelGroupDefinition,
  orderModelGroups,
  readModelGroupDefinition,
} from './components/model-group.ts';
import { resolveConstraintReferences } from './components/identity-constraint.ts';
import { createNotation, createReferenceResolver, indexSymbolSpaces } from './components/symbol-spaces.ts';
import type { XsdReading } from './components/context.ts';
import { createXsdReport } from './report.ts';
import { defaultEntries, loadDocuments, xmlNamespaceDocument, type DocumentSet } from './read/document.ts';
import { parseSchemaFile, xmlNamespaceUri, type SchemaFile } from './read/file.ts';
import { createSchemaLocator, xmlNamespaceSchema } from './read/location.ts';
import { createSyntaxChecker } from './read/syntax.ts';
import { createSimpleType, deriveSimpleTypes, readSimpleType } from './components/simple-type.ts';
import { writeSourceModel } from './source-model-writer.ts';
import { deriveSubstitutionGroups } from './derive/substitution-group.ts';
import { createAlternativeTypes } from './derive/type-alternatives.ts';

export interface XsdFile {
  /** relative POSIX path, unique in the set */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface CompileOptions {
  /** names of the files to start from; default: the files that no other file includes, imports or redefines */
  readonly entries?: readonly string[];
  /** a component that is needed but missing: an error, or a wildcard in its place, with a warning */
  readonly missing?: 'fail' | 'wildcard';
  readonly limits?: EngineLimits;
}

export interface CompiledXsdSet {
  readonly model: SourceModel;
  /** errors here break the standard, yet left the model usable: the first of two duplicates was kept, a faulty facet applied, … */
  readonly diagnostics: Diagnostic[];
  /** names of the files that it was started from */
  readonly entries: readonly string[];
}

/**
 * Compiles a set of XSD 1.0 documents (W3C XML Schema Parts 1 and 2, second edition) into the source model. References resolve among
 * `files` alone. Cost is linear in the size of the set; content models are never expanded.
 *
 * Throws `XsdSetError` (an `InputError` that carries all diagnostics) when no model can be made: a file that is not well-formed or no
 * XSD document, a needed component that is nowhere, a definition in terms of itself, a limit.
 */
export function compileXsdSet(files: readonly XsdFile[], options: CompileOptions = {}): CompiledXsdSet {
  const limits = options.limits ?? defaultEngineLimits;
  const missing = options.missing ?? 'fail';
  const report = createXsdReport();
  const stop = (code: string, message: string): never => {
    report.fatalDiagnostic({ code, severity: 'error', message });
    report.throwIfUnusable();
    throw new Error(message);
  };
  if (files.length > limits.xsdMaxFiles) {
    stop(
      'xsd_too_many_files',
      `The set has ${files.length} files; at most ${limits.xsdMaxFiles} are allowed`,
    );
  }
  const builtIns = createBuiltInTypes();
  const parse = (file: XsdFile) => parseSchemaFile(file, limits, (name) => builtIns.findType(name) !== null);
  const parsed = files.map(parse);
  const locator = createSchemaLocator(parsed);
  const entries =
    options.entries === undefined ? defaultEntries(parsed, locator) : named(parsed, options.entries, stop);
  if (entries.length === 0)
    stop(
      'xsd_no_schema',
      'There is no XSD document in the set: name a file, a folder or an archive of *.xsd',
    );
  const loaded = loadDocuments(entries, locator, missing, report);
  const set = withXmlNamespace(loaded, parse);
  const checkSyntax = createSyntaxChecker(report);
  for (const file of new Set(loaded.documents.map((document) => document.file))) checkSyntax(file);

  const symbols = indexSymbolSpaces(set, report);
  const references = createReferenceResolver(
    symbols,
    set,
    (space, localName) => (space === 'type' ? builtIns.findType(localName) : null),
    missing,
    report,
  );
  let components = 0;
  const reading: XsdReading = {
    report,
    references,
    builtIns,
    later: set.documents.some(({ file }) => file.later),
    simpleTypes: [],
    complexTypes: [],
    elements: [],
    attributes: [],
    attributeGroups: [],
    groups: [],
    modelGroups: [],
    identityConstraints: [],
    constraintReferences: [],
    emptiableGroups: new Map(),
    referredElements: new Set(),
    current: { origin: null },
    count(at) {
      if (++components <= limits.xsdMaxComponents) return;
      const message = `The set has more than ${limits.xsdMaxComponents} components`;
      report.fatal('xsd_too_many_components', message, at);
      report.throwIfUnusable();
    },
  };
  for (const declaration of symbols.declarations) declaration.component = createShell(declaration, reading);
  for (const declaration of symbols.declarations) {
    reading.current.origin = declaration;
    readComponent(declaration, reading);
    checkRedefinition(declaration, reading);
  }
  resolveConstraintReferences(reading);
  const groups = orderModelGroups(reading);
  report.throwIfUnusable();
  deriveSimpleTypes(reading);
  deriveAttributeGroups(reading);
  const substitutions = deriveSubstitutionGroups(reading);
  report.throwIfUnusable();
  const complexTypes = deriveComplexTypes(reading);
  report.throwIfUnusable();
  const alternatives = createAlternativeTypes(reading);
  const summarizer = createContentSummarizer(
    (first, second) => reportInconsistent(first, second, reading),
    alternatives.join,
  );
  checkComponents({ reading, substitutions, summarizer, complexTypes, groups });
  report.throwIfUnusable();
  const model = writeSourceModel({
    reading,
    symbols,
    substitutions,
    summarizer,
    alternatives,
    documents: set.documents,
    entries: declaringEntries(entries, loaded, symbols.declarations),
    maxEntries: limits.xsdMaxComponents,
    onTooLarge: () =>
      stop('xsd_model_too_large', `The model would have more than ${limits.xsdMaxComponents} entries`),
  });
  return { model, diagnostics: report.diagnostics, entries: entries.map(({ name }) => name) };
}

/** Returns the entries and, for an entry that declares nothing itself, the files that it includes or imports. */
function declaringEntries(
  entries: readonly SchemaFile[],
  { links }: DocumentSet,
  declarations: readonly GlobalDeclaration[],
): ReadonlySet<SchemaFile> {
  const declaring = new Set(declarations.map(({ document }) => document.file));
  const broughtIn = Map.groupBy(links, ({ from }) => from.file);
  const found = new Set(entries);
  for (const file of found) {
    if (!declaring.has(file)) for (const { to } of broughtIn.get(file) ?? []) found.add(to.file);
  }
  return found;
}

function named(
  files: readonly SchemaFile[],
  names: readonly string[],
  stop: (code: string, message: string) => never,
): SchemaFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  return names.map(
    (name) => byName.get(name) ?? stop('xsd_missing_document', `The file "${name}" is not in the set`),
  );
}

/** Adds the xml: attributes when no document of the set has that target namespace. */
function withXmlNamespace(set: DocumentSet, parse: (file: XsdFile) => SchemaFile): DocumentSet {
  if (set.documents.some(({ targetNamespace }) => targetNamespace === xmlNamespaceUri)) return set;
  const file = parse({ name: 'xml.xsd', bytes: new TextEncoder().encode(xmlNamespaceSchema) });
  return { ...set, documents: [...set.documents, xmlNamespaceDocument(file)] };
}

function createShell(declaration: GlobalDeclaration, reading: XsdReading): GlobalDeclaration['component'] {
  const { name, node, document } = declaration;
  switch (declaration.space) {
    case 'type':
      return node.name.localName === 'simpleType'
        ? createSimpleType(name, { node, document }, reading)
        : createComplexType(name, { node, document }, reading);
    case 'element':
      return createGlobalElement(declaration, reading);
    case 'attribute':
      return createAttribute(declaration, reading);
    case 'group':
      return createModelGroupDefinition(declaration);
    case 'attributeGroup':
      return createAttributeGroup(declaration);
    case 'notation':
      return createNotation(declaration);
  }
}

/** Checks that a redefined type is derived from the type it redefines (src-redefine, clause 5). */
function checkRedefinition(declaration: GlobalDeclaration, reading: XsdReading): void {
  const { replaces, component, space, document, name } = declaration;
  if (replaces === null || document.redefined === null || space !== 'type') return;
  if ((component as TypeDefinition).base === replaces.component) return;
  const message = `A redefinition of ${name.localName} must be derived from it`;
  reading.report.error('xsd_bad_redefinition', message, declaration, clarkName(name));
}

function readComponent({ space, component }: GlobalDeclaration, reading: XsdReading): void {
  switch (space) {
    case 'type': {
      const type = component as TypeDefinition;
      if (type.kind === 'simple') readSimpleType(type, reading);
      else readComplexType(type, reading);
      break;
    }
    case 'element':
      readElement(component as ElementDeclaration, reading);
      break;
    case 'attribute':
      readAttribute(component as AttributeDeclaration, reading);
      break;
    case 'group':
      readModelGroupDefinition(component as ModelGroupDefinition, reading);
      break;
    case 'attributeGroup':
      readAttributeGroup(component as AttributeGroup, reading);
      break;
    case 'notation':
      break;
  }
}
