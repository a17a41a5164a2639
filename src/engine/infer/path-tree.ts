/** The tree of paths for which statistics are collected, and its open elements. */
import { InputError } from '../diagnostics.ts';
import type { NameTable } from '../xml/tokens.ts';
import { type DeclaredPlace, packBits } from './declared-places.ts';
import { emptyElementStatistics, type ElementStatistics } from './statistics.ts';
import { ValueCollector } from './value-collector.ts';

/**
 * Beyond these limits, names contain data, and no set of tables can represent them. Each path has its statistics, and each child of an
 * element a bit for every other, so documents whose names never repeat would fill any memory. Real standards need less than a tenth.
 */
export const pathLimits = { paths: 200_000, childrenOfOne: 10_000, attributesOfOne: 10_000 } as const;

export interface PathAttribute {
  readonly nameId: number;
  count: number;
  documents: number;
  /** number of the document it was last seen in */
  lastDocument: number;
  /** only a wildcard of the schema allows it */
  readonly isOther: boolean;
  readonly value: ValueCollector;
}

/** A child of a path, by its ordinal. */
export interface PathChild {
  readonly nameId: number;
  readonly target: PathNode;
  minOccurs: number;
  maxOccurs: number;
  /** the siblings seen before it, as bits */
  readonly precededBy: number[];
}

/** An element of the tree of paths. */
export interface PathNode {
  readonly index: number;
  readonly nameId: number;
  /** null: a root element */
  readonly parent: PathNode | null;
  readonly declared: DeclaredPlace;
  count: number;
  documents: number;
  withChildren: number;
  withText: number;
  mixed: number;
  nil: number;
  textRuns: number;
  /** elements with attributes that only a wildcard allows */
  withOthers: number;
  readonly text: ValueCollector;
  /** in the order of their first occurrence, which most later elements repeat */
  readonly attributes: PathAttribute[];
  readonly attributeIndexes: Map<number, number>;
  readonly children: PathChild[];
  readonly ordinals: Map<number, number>;
  /** number of elements that have ended: none of these had the children that are new now */
  ended: number;
  lastDocument: number;
}

/** An open element. Its counts are cleared when it ends. */
export interface Frame {
  node: PathNode;
  /** occurrences in this element, by ordinal of the child */
  counts: Int32Array;
  /** children seen in this element, as bits */
  seen: Int32Array;
  /** ordinal of the child that came last, -1 before the first */
  last: number;
  /** attributes seen */
  attributes: number;
  hasText: boolean;
  /** an attribute that only a wildcard allows was counted */
  hasOther: boolean;
  /** a run of text continues */
  isInRun: boolean;
  hasChildren: boolean;
}

/** InputError past `pathLimits`. */
export function newPathNode(
  index: number,
  nameId: number,
  parent: PathNode | null,
  declared: DeclaredPlace,
  samples: boolean,
): PathNode {
  if (index >= pathLimits.paths) failPaths(`documents have more than ${pathLimits.paths} different paths`);
  // before there is one too many, as an element with a million children would not be read to its end
  if (parent !== null && parent.children.length >= pathLimits.childrenOfOne) failChildren();
  return {
    index,
    nameId,
    parent,
    declared,
    count: 0,
    documents: 0,
    withChildren: 0,
    withText: 0,
    mixed: 0,
    nil: 0,
    textRuns: 0,
    withOthers: 0,
    text: new ValueCollector(samples),
    attributes: [],
    attributeIndexes: new Map(),
    children: [],
    ordinals: new Map(),
    ended: 0,
    lastDocument: 0,
  };
}

function failPaths(what: string): never {
  throw new InputError({
    code: 'path_count_limit',
    severity: 'error',
    message: `${what}: the names of elements or attributes appear to contain data, so no tables can be made`,
  });
}

function failChildren(): never {
  failPaths(`an element has more than ${pathLimits.childrenOfOne} children of different names`);
}

/** A node of a tree of paths, however it is kept. */
interface Step<Node> {
  readonly nameId: number;
  readonly parent: Node | null;
  readonly declared: DeclaredPlace;
}

/**
 * Recursion: if the path to the child has an element with the child's name, including the present one, the child is the same thing again,
 * unless a plan says that their types differ. Only the path decides, regardless of other open elements, so that the order of documents
 * does not matter.
 *
 * An element directly within one of its own name is an exception. It may be another thing (a comment's text is called `Comment` too), so
 * the first such element is counted separately (src/engine/infer/source-model.ts), but only this one: its content is on the path of
 * the element around it.
 */
export function knownChild<Node extends Step<Node>>(
  node: Node,
  nameId: number,
  declared: DeclaredPlace,
  childOf: (node: Node, nameId: number) => Node | null,
): Node | null {
  if (nameId === node.nameId && mayBeOne(node.declared, declared)) return isNested(node) ? node : null;
  for (let above = node.parent; above !== null; above = above.parent)
    if (above.nameId === nameId && mayBeOne(above.declared, declared)) return above;
  if (nameId === node.nameId) return null;
  const twin = isNested(node) ? node.parent : nestedIn(node, childOf);
  return twin === null ? null : childOf(twin, nameId);
}

function nestedIn<Node extends Step<Node>>(
  node: Node,
  childOf: (node: Node, nameId: number) => Node | null,
): Node | null {
  const inner = childOf(node, node.nameId);
  return inner !== null && isNested(inner) ? inner : null;
}

/** Returns the parent of a new child of the node. If two nodes have the same name, it is the outer one, in whichever the child occurs. */
export function pathParent<Node extends Step<Node>>(node: Node, nameId: number): Node {
  return isNested(node) && nameId !== node.nameId ? node.parent! : node;
}

function isNested<Node extends Step<Node>>({ nameId, declared, parent }: Step<Node>): boolean {
  return parent !== null && parent.nameId === nameId && mayBeOne(parent.declared, declared);
}

/** True if elements of one name may be the same thing. */
function mayBeOne(a: DeclaredPlace, b: DeclaredPlace): boolean {
  if (a.kept !== b.kept || a.kept === 'outer') return false;
  return a.type < 0 || b.type < 0 || a.type === b.type;
}

export function childOf(node: PathNode, nameId: number): PathNode | null {
  const ordinal = node.ordinals.get(nameId);
  return ordinal === undefined ? null : node.children[ordinal]!.target;
}

export function newFrame(node: PathNode): Frame {
  return {
    node,
    counts: new Int32Array(16),
    seen: new Int32Array(1),
    last: -1,
    attributes: 0,
    hasText: false,
    hasOther: false,
    isInRun: false,
    hasChildren: false,
  };
}

/** Returns an array with room for `index`. */
export function grown(values: Int32Array, index: number): Int32Array {
  const larger = new Int32Array(Math.max(values.length * 2, index + 1));
  larger.set(values);
  return larger;
}

/** InputError past `pathLimits`, however the tree was kept. */
export function elementStatistics(node: PathNode, names: NameTable): ElementStatistics {
  if (node.children.length > pathLimits.childrenOfOne) failChildren();
  if (node.attributes.length > pathLimits.attributesOfOne)
    failPaths(`an element has more than ${pathLimits.attributesOfOne} different attributes`);
  const name = (nameId: number): [string, string] => [names.namespaceUri(nameId), names.localName(nameId)];
  const { parent } = node;
  const isApart =
    parent !== null && parent.nameId === node.nameId && !mayBeOne(parent.declared, node.declared);
  return {
    ...emptyElementStatistics(...name(node.nameId)),
    ...(isApart ? { apart: true as const } : {}),
    count: node.count,
    documents: node.documents,
    withChildren: node.withChildren,
    withText: node.withText,
    mixed: node.mixed,
    nil: node.nil,
    textRuns: node.declared.mixed ? node.textRuns : 0,
    ...(node.withOthers > 0 ? { withOthers: node.withOthers } : {}),
    text: node.text.statistics,
    attributes: node.attributes.map((attribute) => {
      const [namespaceUri, localName] = name(attribute.nameId);
      return {
        namespaceUri,
        localName,
        count: attribute.count,
        documents: attribute.documents,
        value: attribute.value.statistics,
      };
    }),
    children: node.children.map(({ target, minOccurs, maxOccurs, precededBy }) => ({
      element: target.index,
      minOccurs,
      maxOccurs,
      precededBy: packBits(precededBy),
    })),
  };
}
