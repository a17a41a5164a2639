/** The namespaces that the root element of every written document declares, regardless of the original documents. */
import { xmlNamespace, xsiNamespace } from './name-labels.ts';
import { peekElements, peekMember } from './packed/reader.ts';
import type { RelationalModel } from './relational-model.ts';
import { holdsNames } from './source-model.ts';

export interface RootDeclarations {
  /** prefixes and URIs that the model knows */
  readonly known: readonly (readonly [prefix: string, uri: string])[];
  /** URIs by prefix */
  readonly declared: Map<string, string>;
  /** prefixes of names, by URI */
  readonly prefixes: Map<string, string>;
  readonly taken: Set<string>;
}

/** Returns the declarations for all names and, if values are names, for all namespaces of the model. Walks through the whole model. */
export function rootDeclarations(model: RelationalModel): RootDeclarations {
  const used = new Set([xsiNamespace]);
  for (const root of model.roots) used.add(root.name.namespaceUri);
  for (const node of peekElements(model.nodes)) {
    for (const { name } of node.edges) used.add(name.namespaceUri);
    for (const { name } of node.attributes) used.add(name.namespaceUri);
    for (const { name } of node.typeEdges) used.add(name.namespaceUri);
  }
  const known = knownPrefixes(model);
  const anyHoldsNames = peekElements(model.tables).some((table) =>
    peekMember(table, 'columns').some(({ sourceType }) => holdsNames(sourceType)),
  );
  const prefixes = new Map<string, string>();
  const declared = new Map<string, string>();
  for (const [prefix, uri] of known) {
    if (uri === '' || uri === xmlNamespace || (!anyHoldsNames && (!used.has(uri) || prefixes.has(uri))))
      continue;
    if (!prefixes.has(uri)) prefixes.set(uri, prefix);
    declared.set(prefix, uri);
  }
  const taken = new Set(known.map(([prefix]) => prefix));
  for (const uri of used) {
    if (uri === '' || uri === xmlNamespace || prefixes.has(uri)) continue;
    const word = uri === xsiNamespace ? 'xsi' : 'ns';
    let prefix = word;
    for (let number = 1; taken.has(prefix); number += 1) prefix = `${word}${number}`;
    taken.add(prefix);
    prefixes.set(uri, prefix);
    declared.set(prefix, uri);
  }
  return { known, declared, prefixes, taken };
}

/** the most elements of a model for which a walk takes negligible time */
const maxWalked = 2000;

/** Returns URIs by prefix that the root declares for certain; of a large model these are only those of its root elements. */
export function surelyDeclared(model: RelationalModel): ReadonlyMap<string, string> {
  if (model.nodes.length <= maxWalked) return rootDeclarations(model).declared;
  const roots = new Set([xsiNamespace, ...model.roots.map(({ name }) => name.namespaceUri)]);
  const declared = new Map<string, string>();
  for (const [prefix, uri] of knownPrefixes(model))
    if (uri !== '' && roots.delete(uri)) declared.set(prefix, uri);
  return declared;
}

function knownPrefixes({ namespaces }: RelationalModel): [prefix: string, uri: string][] {
  return Object.entries(namespaces).filter(([prefix]) => prefix !== 'xml' && prefix !== 'xmlns');
}
