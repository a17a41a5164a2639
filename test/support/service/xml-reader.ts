/**
 * Reads small documents by means of its own, so that what the service made of them is not compared with itself.
 * For documents of the tests alone: no DTD, no faults.
 */

export interface ReadElement {
  readonly namespaceUri: string;
  readonly localName: string;
  readonly attributes: readonly {
    readonly namespaceUri: string;
    readonly localName: string;
    readonly value: string;
  }[];
  /** elements and runs of text; comments and instructions do not part a run */
  readonly children: readonly (ReadElement | string)[];
}

interface Draft extends ReadElement {
  readonly children: (ReadElement | string)[];
  readonly prefixes: ReadonlyMap<string, string>;
}

const markup =
  /<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[([^]*?)\]\]>|<\/[^>]*>|<([^\s/>]+)((?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g;

export function readXml(document: string): ReadElement {
  const top = { children: [] as (ReadElement | string)[] };
  const open: Draft[] = [];
  for (const match of document.replaceAll(/\r\n?/g, '\n').matchAll(markup)) {
    const [all, cdata, name, attributes, empty, text] = match;
    const children = open.at(-1)?.children ?? top.children;
    if (cdata !== undefined) append(children, cdata);
    else if (text !== undefined) append(children, unescaped(text));
    else if (name !== undefined) {
      const element = startTag(name, attributes!, open.at(-1)?.prefixes ?? new Map());
      children.push(element);
      if (empty === '') open.push(element);
    } else if (all.startsWith('</')) open.pop();
  }
  const root = top.children.find((child) => typeof child !== 'string');
  if (root === undefined || open.length > 0) throw new Error('the test document is not well-formed');
  return root as ReadElement;
}

function append(children: (ReadElement | string)[], text: string): void {
  const last = children.at(-1);
  if (typeof last === 'string') children[children.length - 1] = last + text;
  else children.push(text);
}

function startTag(name: string, text: string, outer: ReadonlyMap<string, string>): Draft {
  const prefixes = new Map(outer);
  const written: [string, string][] = [];
  for (const [, key, double, single] of text.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    // XML 1.0 §3.3.3: white space that is written, not referred to, becomes a space
    const value = unescaped((double ?? single)!.replaceAll(/[\t\n]/g, ' '));
    if (key === 'xmlns') prefixes.set('', value);
    else if (key!.startsWith('xmlns:')) prefixes.set(key!.slice(6), value);
    else written.push([key!, value]);
  }
  const expanded = (qName: string, standard: string): { namespaceUri: string; localName: string } => {
    const colon = qName.indexOf(':');
    if (colon < 0) return { namespaceUri: standard, localName: qName };
    return {
      namespaceUri: prefixes.get(qName.slice(0, colon)) ?? '',
      localName: qName.slice(colon + 1),
    };
  };
  return {
    ...expanded(name, prefixes.get('') ?? ''),
    attributes: written.map(([key, value]) => ({ ...expanded(key, ''), value })),
    children: [],
    prefixes,
  };
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#x([0-9A-Fa-f]+)|#(\d+)|(\w+));/g, (_, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex as string, 16));
    return decimal === undefined ? named[name as string]! : String.fromCodePoint(Number(decimal));
  });
}
