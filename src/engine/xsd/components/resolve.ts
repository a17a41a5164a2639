/** References from component to component, by qualified name. */
import { clarkName, type QName } from '../../model/source-model.ts';
import type { ComponentKinds, Origin, SymbolSpace } from './terms.ts';
import type { XsdReport } from '../report.ts';
import type { DocumentSet } from '../read/document.ts';
import { xmlNamespaceUri, xsdNamespace } from '../read/file.ts';
import type { SymbolSpaces } from './symbol-spaces.ts';
import { collapse } from '../read/white-space.ts';

/** Resolves QName references to global components (XSD Part 1 §3.15.3, src-resolve). */
export interface ReferenceResolver {
  /** Expands a QName in the scope of its element; null, with an error, when its prefix is not bound. */
  expand(qualifiedName: string, at: Origin): QName | null;
  has(space: SymbolSpace, name: QName): boolean;
  /** Returns null, with a diagnostic, if there is no such component; `name` is then the name that was looked up (null without). */
  findComponent<S extends SymbolSpace>(space: S, qualifiedName: string, at: Origin): Found<ComponentKinds[S]>;
}

export interface Found<T> {
  readonly component: T | null;
  readonly name: QName | null;
}

/** Looks up the components that the XSD namespace itself defines. */
export type BuiltInLookup = (space: SymbolSpace, localName: string) => ComponentKinds[SymbolSpace] | null;

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
    const message = `The ${space} ${path} is not in the set; the document ${where}, which may hold it, is missing`;
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
          const message = 'XSD has no type precisionDecimal; decimal stands in for it';
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
