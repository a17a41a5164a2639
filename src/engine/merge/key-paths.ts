/** Paths of `--key`: from the text of the option to names, as the model of the documents knows them. */
import type { PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';
import { xmlNamespace } from '../model/name-labels.ts';
import { clarkName, type QName } from '../model/source-model.ts';

/** An absolute path to an element, or to an attribute of it. */
export interface KeyPath {
  /** path as given */
  readonly text: string;
  readonly elements: readonly NameWanted[];
  readonly attribute: NameWanted | null;
}

/** `namespaceUri` null: any, as no prefix was given. */
interface NameWanted {
  readonly namespaceUri: string | null;
  readonly localName: string;
}

export type KeyPaths = readonly KeyPath[] | { readonly fault: string };

/** Parses paths separated by commas; `fault`: description of the fault, as a continuation of the option's name. */
export function parseKeyPaths(option: string, model: RelationalModel): KeyPaths {
  const paths: KeyPath[] = [];
  // neither names nor {uri} of a step hold a comma that separates
  for (const text of option.match(/(?:\{[^}]*\}|[^,{])+/g) ?? []) {
    const parsed = parsePath(text.trim(), model);
    if ('fault' in parsed) return parsed;
    paths.push(parsed);
  }
  return paths;
}

function parsePath(text: string, model: RelationalModel): KeyPath | { readonly fault: string } {
  const steps = text.match(/(?:\{[^}]*\}|[^/{])+/g) ?? [];
  if (!text.startsWith('/') || text.startsWith('//') || text.endsWith('/') || steps.length === 0)
    return { fault: `${text} is no absolute path, such as /order/@id or /order/header/number` };
  const elements: NameWanted[] = [];
  let attribute: NameWanted | null = null;
  for (const step of steps) {
    if (attribute !== null) return { fault: `${text}: nothing can follow an attribute` };
    const name = nameOf(step.replace(/^@/, ''), model);
    if (name === null) return { fault: `${text}: ${step} ${namingFault(step, model)}` };
    if (step.startsWith('@'))
      // an attribute without a prefix is in no namespace
      attribute = { ...name, namespaceUri: name.namespaceUri ?? '' };
    else elements.push(name);
  }
  if (elements.length === 0) return { fault: `${text}: an attribute belongs to an element` };
  const path = { text, elements, attribute };
  const known = knownPart(path, model);
  if (known !== null)
    return {
      fault: `${text}: the schema has no ${known.missing}; it has ${known.instead.join(', ') || 'nothing there'}`,
    };
  return path;
}

const nameForm = /^(?:\{([^}]*)\}|([^:{}[\]()*\s]+):)?([^:{}[\]()*@\s]+)$/;

function namingFault(step: string, { namespaces }: RelationalModel): string {
  if (nameForm.test(step.replace(/^@/, '')))
    return `is no name with a prefix of the schema (${Object.keys(namespaces).join(', ')})`;
  return 'is neither the name of an element nor @ and that of an attribute: a key is a path of names alone';
}

function nameOf(step: string, model: RelationalModel): NameWanted | null {
  const [, uri, prefix, localName] = nameForm.exec(step) ?? [];
  if (localName === undefined) return null;
  if (prefix === undefined) return { namespaceUri: uri ?? null, localName };
  const namespaceUri = prefix === 'xml' ? xmlNamespace : model.namespaces[prefix];
  return namespaceUri === undefined ? null : { namespaceUri, localName };
}

const maxInstead = 10;

/** Returns the part of the path that the model does not have, and the names it has in that place, or null if it has the whole path. */
function knownPart(
  { elements, attribute }: KeyPath,
  model: RelationalModel,
): { readonly missing: string; readonly instead: readonly string[] } | null {
  let edges: readonly PlanEdge[] = model.roots;
  let nodes: readonly PlanNode[] = [];
  for (const wanted of elements) {
    const found = edges.filter(({ name }) => isName(name, wanted));
    if (found.length === 0)
      return { missing: `element ${labelOf(wanted)} there`, instead: namesOf(edges.map(({ name }) => name)) };
    nodes = withDerived(
      found.map(({ node }) => model.nodes[node]!),
      model,
    );
    edges = nodes.flatMap((node) => node.edges);
  }
  if (attribute === null) return null;
  const attributes = nodes.flatMap((node) => node.attributes.map(({ name }) => name));
  if (attributes.some((name) => isName(name, attribute))) return null;
  return {
    missing: `attribute ${labelOf(attribute)} there`,
    instead: namesOf(attributes).map((name) => `@${name}`),
  };
}

/** Adds the nodes that replace these if a document has `xsi:type`. */
function withDerived(nodes: readonly PlanNode[], model: RelationalModel): readonly PlanNode[] {
  const all = new Set(nodes);
  for (const node of all) for (const edge of node.typeEdges) all.add(model.nodes[edge.node]!);
  return [...all];
}

export function isName({ namespaceUri, localName }: QName, wanted: NameWanted): boolean {
  return localName === wanted.localName && (wanted.namespaceUri ?? namespaceUri) === namespaceUri;
}

function labelOf({ namespaceUri, localName }: NameWanted): string {
  return clarkName({ namespaceUri: namespaceUri ?? '', localName });
}

function namesOf(names: readonly QName[]): readonly string[] {
  const all = [...new Set(names.map(({ localName }) => localName))];
  return all.length > maxInstead ? [...all.slice(0, maxInstead), `${all.length - maxInstead} more`] : all;
}
