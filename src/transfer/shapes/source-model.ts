/** Whether a value is a source model whose indexes lead somewhere. */
import { builtInTypeNames } from '../../engine/map/tables/column-types.ts';
import type {
  IdentityConstraint,
  QName,
  SourceAttribute,
  SourceChild,
  SourceElement,
  SourceModel,
  SourceType,
  SourceWildcard,
  ValueType,
} from '../../engine/model/source-model.ts';
import { array, flag, integer, nullable, object, oneOf, record, shapeFault, text } from './json-shape.ts';
import type { Shape } from './json-shape.ts';

export const qualifiedName: Shape = object<QName>({ namespaceUri: text(), localName: text(/./) });
export const builtInType: Shape = oneOf(...builtInTypeNames);
const count = integer(0);

const valueType: Shape = (value, at) => valueTypeShape(value, at);
const valueTypeShape = object<ValueType>(
  { variety: oneOf('atomic', 'list', 'union'), base: builtInType, facets: record(facet) },
  {
    name: qualifiedName,
    itemType: valueType,
    memberTypes: array(valueType),
    zone: oneOf('always', 'never'),
    guessed: oneOf(true),
    mayBeEmpty: oneOf(true),
  },
);

function facet(value: unknown, at: string): void {
  if (typeof value === 'number') integer(0)(value, at);
  else if (Array.isArray(value))
    array((item, place) => (Array.isArray(item) ? array(text())(item, place) : text()(item, place)))(
      value,
      at,
    );
  else text()(value, at);
}

const wildcard: Shape = object<SourceWildcard>({
  namespaces: (value, at) => {
    if (value === '##any') return;
    if (Array.isArray(value)) array(text())(value, at);
    else object({ not: text() })(value, at);
  },
  processContents: oneOf('strict', 'lax', 'skip'),
  minOccurs: count,
  maxOccurs: nullable(count),
});

const attribute = object<SourceAttribute>(
  { name: qualifiedName, type: valueType, required: flag },
  { default: text(), fixed: text(), documentation: text() },
);

const constraint = object<IdentityConstraint>(
  {
    kind: oneOf('key', 'unique', 'keyref'),
    name: qualifiedName,
    selector: text(),
    fields: array(text()),
    namespaces: record(text()),
  },
  { refer: qualifiedName },
);

const element = object<SourceElement>(
  {
    name: qualifiedName,
    type: count,
    global: flag,
    nillable: flag,
    abstract: flag,
    substitutes: array(count),
    identityConstraints: array(constraint),
  },
  { default: text(), fixed: text(), documentation: text() },
);

const type = object<SourceType>(
  {
    name: nullable(qualifiedName),
    complex: flag,
    abstract: flag,
    content: oneOf('empty', 'simple', 'elements', 'mixed'),
    value: nullable(valueType),
    attributes: array(attribute),
    children: array(
      object<SourceChild>({
        element: count,
        minOccurs: count,
        maxOccurs: nullable(count),
        orderImplied: flag,
      }),
    ),
    anyElement: nullable(wildcard),
    anyAttribute: nullable(wildcard),
    base: nullable(count),
    derivation: nullable(oneOf('extension', 'restriction')),
    derived: array(count),
  },
  { neverEmpty: oneOf(true), documentation: text() },
);

const shape = object<SourceModel>({
  elements: array(element),
  types: array(type),
  roots: array(count),
  primaryRoots: count,
  targetNamespace: nullable(text()),
  namespaces: record(text()),
});

export const checkSourceModel: Shape = (value, at) => {
  shape(value, at);
  const { elements, types, roots, primaryRoots } = value as SourceModel;
  const within = (index: number | null, length: number): void => {
    if (index !== null && index >= length) throw shapeFault(at, 'refers to what it does not hold');
  };
  for (const one of elements) {
    within(one.type, types.length);
    for (const index of one.substitutes) within(index, elements.length);
  }
  for (const one of types) {
    within(one.base, types.length);
    for (const index of one.derived) within(index, types.length);
    for (const child of one.children) within(child.element, elements.length);
  }
  for (const root of roots) within(root, elements.length);
  within(primaryRoots, roots.length + 1);
};
