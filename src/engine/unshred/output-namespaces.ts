/** Prefixes of a written document: every namespace has one, declared at the root; there is no default namespace. */
import { passing } from '../model/packed/lazy-array.ts';
import { lookedAt } from '../model/packed/reader.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { xmlNamespace, xsdNamespace, xsiNamespace } from '../model/name-labels.ts';
import { holdsNames, type QName } from '../model/source-model.ts';
import { escapeAttribute } from './escape.ts';
import { utf8Of } from './rows/values.ts';

/** Namespaces that one start tag has to declare itself: URI -> prefix. */
export type OwnDeclarations = Map<string, string>;

export interface OutputNamespaces {
  /** attributes of the root element, with a blank before each */
  readonly declarations: string;
  /** a name of the model, or of the schema-instance namespace */
  nameOf(name: QName): string;
  /** UTF-8 of a name or of what names an element in rows: one array for all places where it stands, of which a large model has many */
  bytesOf(text: string): Uint8Array;
  /** a name that the model may not know: `own` takes its namespace where the root does not declare it */
  nameWith(name: QName, own: OwnDeclarations): string;
}

export function createOutputNamespaces(model: RelationalModel): OutputNamespaces {
  const used = new Set([xsiNamespace]);
  for (const root of model.roots) used.add(root.name.namespaceUri);
  for (const node of passing(model.nodes)) {
    for (const { name } of node.edges) used.add(name.namespaceUri);
    for (const { name } of node.attributes) used.add(name.namespaceUri);
    for (const { name } of node.typeEdges) used.add(name.namespaceUri);
  }
  const known = Object.entries(model.namespaces).filter(([prefix]) => prefix !== 'xml' && prefix !== 'xmlns');
  const anyHoldsNames = passing(model.tables).some((table) =>
    lookedAt(table, 'columns').some(({ sourceType }) => holdsNames(sourceType)),
  );
  const prefixes = new Map<string, string>();
  const declared: [string, string][] = [];
  for (const [prefix, uri] of known) {
    if (uri === '' || uri === xmlNamespace || (!anyHoldsNames && (!used.has(uri) || prefixes.has(uri))))
      continue;
    if (!prefixes.has(uri)) prefixes.set(uri, prefix);
    declared.push([prefix, uri]);
  }
  const taken = new Set(known.map(([prefix]) => prefix));
  for (const uri of used) {
    if (uri === '' || uri === xmlNamespace || prefixes.has(uri)) continue;
    const word = uri === xsiNamespace ? 'xsi' : 'ns';
    let prefix = word;
    for (let number = 1; taken.has(prefix); number += 1) prefix = `${word}${number}`;
    taken.add(prefix);
    prefixes.set(uri, prefix);
    declared.push([prefix, uri]);
  }
  prefixes.set(xmlNamespace, 'xml');
  // those that the model knows and the root need not declare: values may hold names of them
  const usual = new Map(taken.has('xs') ? [] : [[xsdNamespace, 'xs']]);
  for (const [prefix, uri] of known.toReversed()) if (!prefixes.has(uri)) usual.set(uri, prefix);
  for (const prefix of usual.values()) taken.add(prefix);
  const texts = new Map<string, Uint8Array>();
  return {
    bytesOf(text) {
      let bytes = texts.get(text);
      if (bytes === undefined) texts.set(text, (bytes = utf8Of(text)));
      return bytes;
    },
    declarations: declared.map(([prefix, uri]) => ` xmlns:${prefix}="${escapeAttribute(uri)}"`).join(''),
    nameOf(name) {
      return name.namespaceUri === '' ? name.localName : prefixed(prefixes.get(name.namespaceUri)!, name);
    },
    nameWith(name, own) {
      if (name.namespaceUri === '') return name.localName;
      let prefix = prefixes.get(name.namespaceUri) ?? own.get(name.namespaceUri);
      if (prefix === undefined) {
        prefix = usual.get(name.namespaceUri);
        for (let number = own.size + 1; prefix === undefined; number += 1)
          if (!taken.has(`_${number}`)) prefix = `_${number}`;
        own.set(name.namespaceUri, prefix);
      }
      return prefixed(prefix, name);
    },
  };
}

function prefixed(prefix: string, name: QName): string {
  return `${prefix}:${name.localName}`;
}
