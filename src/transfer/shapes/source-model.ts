/** Whether a value is a source model whose indexes lead somewhere. */
import { builtInTypeNames } from '../../engine/map/tables/column-types.ts';
import type {
  Facets,
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
import { clarkName } from '../../engine/model/source-model.ts';
import { ncName } from '../../engine/xsd/values/lexical-form.ts';
import { array, flag, integer, nullable, object, oneOf, record, shapeFault, text } from './json-shape.ts';
import type { Shape } from './json-shape.ts';

export const qualifiedName: Shape = object<QName>({ namespaceUri: text(), localName: text(ncName) });
export const builtInType: Shape = oneOf(...builtInTypeNames);
const count = integer(0);

const texts = array(text());
const facets = object<Facets>(
  {},
  {
    length: count,
    minLength: count,
    maxLength: count,
    totalDigits: count,
    fractionDigits: count,
    minInclusive: text(),
    maxInclusive: text(),
    minExclusive: text(),
    maxExclusive: text(),
    whiteSpace: oneOf('preserve', 'replace', 'collapse'),
    enumeration: texts,
    enumerationDocumentation: array(nullable(text())),
    enumerationLabels: array(nullable(text())),
    patterns: array(texts),
  },
);

const valueType: Shape = (value, at) => valueTypeShape(value, at);
const valueTypeShape = object<ValueType>(
  { variety: oneOf('atomic', 'list', 'union'), base: builtInType, facets },
  {
    name: qualifiedName,
    itemType: valueType,
    memberTypes: array(valueType),
    zone: oneOf('always', 'never'),
    offsets: oneOf(true),
    guessed: oneOf(true),
    mayBeEmpty: oneOf(true),
    unfilled: oneOf(true),
  },
);

export const wildcardNamespaces: Shape = (value, at) => {
  if (value === '##any') return;
  if (Array.isArray(value)) array(text())(value, at);
  else object({ not: text() })(value, at);
};

const wildcard: Shape = object<SourceWildcard>({
  namespaces: wildcardNamespaces,
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
      object<SourceChild>(
        {
          element: count,
          minOccurs: count,
          maxOccurs: nullable(count),
          orderImplied: flag,
        },
        { documentation: text() },
      ),
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
  for (const [index, one] of types.entries()) {
    checkContent(one, `${at}/types/${index}`);
    within(one.base, types.length);
    for (const index of one.derived) within(index, types.length);
    for (const child of one.children) within(child.element, elements.length);
  }
  for (const root of roots) within(root, elements.length);
  within(primaryRoots, roots.length + 1);
  checkBases(types, at);
};

/** Checks that the facts about a type in several places agree: the mapper uses either. */
function checkContent(type: SourceType, at: string): void {
  const { complex, content, value, attributes, children, anyElement, anyAttribute } = type;
  const holdsElements = children.length > 0 || anyElement !== null;
  const isLeaf = attributes.length === 0 && anyAttribute === null && !holdsElements;
  if ((value !== null) !== (content === 'simple'))
    throw shapeFault(at, 'has a value without simple content, or the other way round');
  if (holdsElements && (content === 'simple' || content === 'empty'))
    throw shapeFault(at, 'holds elements in content that has none');
  if (!complex && !isLeaf) throw shapeFault(at, 'is a simple type with attributes or elements');
  const names = attributes.map(({ name }) => clarkName(name));
  if (new Set(names).size < names.length) throw shapeFault(at, 'has an attribute twice');
  for (const { minOccurs, maxOccurs } of [...children, ...(anyElement === null ? [] : [anyElement])])
    if (maxOccurs !== null && minOccurs > maxOccurs)
      throw shapeFault(at, 'has more elements at least than at most');
}

function checkBases(types: readonly SourceType[], at: string): void {
  /** by type: number of the walk that visited it; 0: none */
  const seen = new Int32Array(types.length);
  for (const start of types.keys()) {
    for (let index: number | null = start; index !== null && seen[index] !== -1; index = types[index]!.base) {
      if (seen[index] === start + 1) throw shapeFault(at, 'has a type that is derived from itself');
      seen[index] = start + 1;
    }
  }
}
