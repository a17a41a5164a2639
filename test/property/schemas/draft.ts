/** Components of a random XSD set while it is being made. */
import type {
  AttributeGroupTerm,
  AttributeTerm,
  ComplexTypeTerm,
  ElementTerm,
  GroupTerm,
  SchemaFileTerm,
  SimpleTypeTerm,
} from './terms.ts';
import { builtInType } from './simple-type-generator.ts';

export class SchemaDraft {
  readonly files: SchemaFileTerm[] = [];
  readonly simpleTypes: SimpleTypeTerm[] = [];
  readonly complexTypes: ComplexTypeTerm[] = [];
  readonly elements: ElementTerm[] = [];
  readonly attributes: AttributeTerm[] = [];
  readonly groups: GroupTerm[] = [];
  readonly attributeGroups: AttributeGroupTerm[] = [];
  readonly stringType = builtInType('string');
  readonly integerType = builtInType('int');
  readonly anyType: ComplexTypeTerm = {
    kind: 'complex',
    name: null,
    isAnyType: true,
    abstract: false,
    derivation: null,
    base: null,
    derived: [],
    simple: null,
    mixed: true,
    particle: null,
    attributes: [],
    attributeGroups: [],
    anyAttribute: null,
  };
}
