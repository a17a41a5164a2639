/** Prefixes of a written document: every namespace has one, declared at the root; there is no default namespace. */
import { ContentScope } from './content-scope.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { xmlNamespace, xsdNamespace } from '../model/name-labels.ts';
import { rootDeclarations } from '../model/root-declarations.ts';
import type { QName } from '../model/source-model.ts';
import { escapeAttribute } from './escape.ts';
import { utf8Of } from './rows/values.ts';

/** Namespaces that one start tag has to declare itself: URI -> prefix. */
export type OwnDeclarations = Map<string, string>;

export interface OutputNamespaces {
  /** attributes of the root element, with a blank before each */
  readonly declarations: string;
  /** scope of the document that is written */
  readonly content: ContentScope;
  /** a name of the model, or of the schema-instance namespace */
  nameOf(name: QName): string;
  /**
   * Returns the UTF-8 of a name, or of a text that names an element in rows. Returns the same array for all places with the same text, of
   * which a large model has many.
   */
  bytesOf(text: string): Uint8Array;
  /**
   * Returns the text for a name that the model may not know: if the root does not declare its namespace, the declaration is added to
   * `own`.
   */
  nameWith(name: QName, own: OwnDeclarations): string;
}

export function createOutputNamespaces(model: RelationalModel): OutputNamespaces {
  const { known, prefixes, declared, taken } = rootDeclarations(model);
  prefixes.set(xmlNamespace, 'xml');
  // namespaces that the model knows and the root need not declare: values may hold names in them
  const usual = new Map(taken.has('xs') ? [] : [[xsdNamespace, 'xs']]);
  for (const [prefix, uri] of known.toReversed()) if (!prefixes.has(uri)) usual.set(uri, prefix);
  for (const prefix of usual.values()) taken.add(prefix);
  const texts = new Map<string, Uint8Array>();
  const content = new ContentScope(declared);
  return {
    content,
    bytesOf(text) {
      let bytes = texts.get(text);
      if (bytes === undefined) texts.set(text, (bytes = utf8Of(text)));
      return bytes;
    },
    declarations: Array.from(declared, ([prefix, uri]) => ` xmlns:${prefix}="${escapeAttribute(uri)}"`).join(
      '',
    ),
    nameOf(name) {
      return name.namespaceUri === '' ? name.localName : prefixed(prefixes.get(name.namespaceUri)!, name);
    },
    nameWith(name, own) {
      if (name.namespaceUri === '') return name.localName;
      const atRoot = prefixes.get(name.namespaceUri);
      if (atRoot !== undefined) return content.name(prefixed(atRoot, name));
      let prefix = own.get(name.namespaceUri);
      if (prefix === undefined) {
        const isFree = (one: string): boolean => !content.binds(one);
        prefix = [usual.get(name.namespaceUri)].find((one) => one !== undefined && isFree(one));
        for (let number = own.size + 1; prefix === undefined; number += 1)
          if (!taken.has(`_${number}`) && isFree(`_${number}`)) prefix = `_${number}`;
        own.set(name.namespaceUri, prefix);
      }
      return prefixed(prefix, name);
    },
  };
}

function prefixed(prefix: string, name: QName): string {
  return `${prefix}:${name.localName}`;
}
