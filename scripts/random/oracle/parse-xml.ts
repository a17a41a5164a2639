/** A small XML reader of the oracle's own: elements, attributes and text by expanded names, for documents without a DTD. */
import { xmlUri, type Name } from '../schema/terms.ts';

export interface XmlNode {
  readonly name: Name;
  readonly attributes: readonly { readonly name: Name; readonly value: string }[];
  readonly children: (XmlNode | string)[];
  /** prefixes in scope */
  readonly scope: ReadonlyMap<string, string>;
}

const markup =
  /<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[([^]*?)\]\]>|<\/[^>]*>|<((?:[^<>"']|"[^"]*"|'[^']*')*?)(\/?)>/g;

export function parseXml(text: string): XmlNode {
  const top: XmlNode = {
    name: { uri: '', local: '' },
    attributes: [],
    children: [],
    scope: new Map([['xml', xmlUri]]),
  };
  const open = [top];
  let at = 0;
  const add = (run: string): void => {
    const { children } = open.at(-1)!;
    if (run === '') return;
    if (typeof children.at(-1) === 'string') children.push(String(children.pop()) + run);
    else children.push(run);
  };
  for (const match of text.matchAll(markup)) {
    if (open.length > 1) add(resolved(text.slice(at, match.index).replaceAll(/\r\n?/g, '\n')));
    at = match.index + match[0].length;
    const [whole, cdata, tag, slash] = match;
    if (cdata !== undefined) add(cdata.replaceAll(/\r\n?/g, '\n'));
    else if (whole.startsWith('</')) open.pop();
    else if (tag !== undefined) {
      const node = element(tag, open.at(-1)!.scope);
      open.at(-1)!.children.push(node);
      if (slash === '') open.push(node);
    }
  }
  const roots = top.children.filter((child) => typeof child !== 'string');
  if (open.length !== 1 || roots.length !== 1)
    throw new Error(`not one well-formed document: ${text.slice(0, 200)}`);
  return roots[0]!;
}

function element(tag: string, outer: ReadonlyMap<string, string>): XmlNode {
  const [, name = ''] = /^([^\s]+)/.exec(tag) ?? [];
  const pairs = [...tag.slice(name.length).matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(
    ([, key, double, single]) =>
      [key!, resolved((double ?? single ?? '').replaceAll(/\r\n|[\t\n\r]/g, ' '))] as const,
  );
  const scope = new Map(outer);
  for (const [key, value] of pairs) {
    if (key === 'xmlns') scope.set('', value);
    else if (key.startsWith('xmlns:')) scope.set(key.slice(6), value);
  }
  const attributes = pairs
    .filter(([key]) => key !== 'xmlns' && !key.startsWith('xmlns:'))
    .map(([key, value]) => ({ name: expanded(key, scope, false), value }));
  return { name: expanded(name, scope, true), attributes, children: [], scope };
}

function expanded(name: string, scope: ReadonlyMap<string, string>, takesDefault: boolean): Name {
  const colon = name.indexOf(':');
  if (colon < 0) return { uri: takesDefault ? (scope.get('') ?? '') : '', local: name };
  const uri = scope.get(name.slice(0, colon));
  if (uri === undefined) throw new Error(`undeclared prefix: ${name}`);
  return { uri, local: name.slice(colon + 1) };
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function resolved(text: string): string {
  return text.replaceAll(
    /&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g,
    (_, hex?: string, code?: string, name?: string) => {
      if (name !== undefined) return entities[name]!;
      return String.fromCodePoint(hex === undefined ? Number(code) : Number.parseInt(hex, 16));
    },
  );
}
