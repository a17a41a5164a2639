/**
 * Types of elements whose value is an attribute (FHIR's `<family value="Chalmers"/>`). They are declared as complex, because each element
 * may have an id and extensions in addition to its value, but are read as values.
 */
import type { KeptBeside } from '../../model/relational-model.ts';
import {
  isValueName,
  type SourceAttribute,
  type SourceModel,
  type SourceType,
} from '../../model/source-model.ts';

export interface ValueTypes {
  /** by index */
  readonly types: ReadonlySet<number>;
  /** the model in which an element of such a type holds only its value */
  readonly source: SourceModel;
  /** other content that those elements may have */
  readonly kept: readonly KeptBeside[];
  /** by type: index in `kept` */
  readonly keptOf: ReadonlyMap<number, number>;
}

function isValueAttribute({ name }: SourceAttribute): boolean {
  return isValueName(name);
}

/** Finds the value types of a source model. The model's other types keep their indexes. */
export function findValueTypes(source: SourceModel): ValueTypes {
  const types = new Set(source.types.keys().filter((type) => holdsValueBesideBase(source, type)));
  // xsi:type may substitute a derivation for each of them
  for (const type of types)
    if (source.types[type]!.derived.some((other) => !types.has(other))) types.delete(type);
  const kept: KeptBeside[] = [];
  const places = new Map<string, number>();
  const keptOf = new Map<number, number>();
  for (const type of types) {
    const parts = besideValue(source, source.types[type]!);
    const identity = JSON.stringify(parts);
    const place = places.get(identity) ?? kept.push(parts) - 1;
    places.set(identity, place);
    keptOf.set(type, place);
  }
  if (types.size === 0) return { types, source, kept, keptOf };
  const plain = source.types.map((type, index) =>
    types.has(index)
      ? {
          ...type,
          content: 'empty' as const,
          attributes: type.attributes.filter(isValueAttribute),
          children: [],
        }
      : type,
  );
  return { types, source: { ...source, types: plain }, kept, keptOf };
}

/**
 * Tests for a derivation that adds only an attribute `value` to a base without required content. All other content of its elements may also
 * occur in elements of other types derived from the base.
 */
function holdsValueBesideBase({ types }: SourceModel, index: number): boolean {
  const type = types[index]!;
  const base = type.base === null ? undefined : types[type.base];
  if (base === undefined || type.derivation !== 'extension' || type.abstract || type.children.length === 0)
    return false;
  if (type.content !== 'elements' || type.anyElement !== null || type.anyAttribute !== null) return false;
  const [value, ...others] = type.attributes.filter(isValueAttribute);
  return (
    value !== undefined &&
    others.length === 0 &&
    !base.attributes.some(isValueAttribute) &&
    base.attributes.every(({ required }) => !required) &&
    base.attributes.length === type.attributes.length - 1 &&
    base.children.length === type.children.length &&
    type.children.every(
      ({ element, minOccurs }, at) => minOccurs === 0 && base.children[at]!.element === element,
    )
  );
}

function besideValue({ elements }: SourceModel, { attributes, children }: SourceType): KeptBeside {
  return {
    elements: children.flatMap(({ element }) =>
      [element, ...elements[element]!.substitutes].map((one) => elements[one]!.name),
    ),
    attributes: attributes.filter((attribute) => !isValueAttribute(attribute)).map(({ name }) => name),
  };
}
