/** The state that the readers of components share. */
import type { QName } from '../../model/source-model.ts';
import type { BuiltInTypes } from '../values/built-in-types.ts';
import type {
  AttributeDeclaration,
  AttributeGroup,
  ComplexType,
  ElementDeclaration,
  IdentityConstraintDefinition,
  ModelGroup,
  ModelGroupDefinition,
  Origin,
  SimpleType,
} from './terms.ts';
import { maxDependencyDepth } from '../derive/dependency-order.ts';
import type { ReferenceResolver } from './symbol-spaces.ts';
import type { XsdReport } from '../report.ts';

/** The context that the reading of components shares: the resolver of references, and every component read so far, in document order. */
export interface XsdReading {
  readonly report: XsdReport;
  readonly references: ReferenceResolver;
  readonly builtIns: BuiltInTypes;
  /** a document of the set is written for XSD 1.1: constructs that only XSD 1.0 forbids are not faults */
  readonly later: boolean;
  readonly simpleTypes: SimpleType[];
  readonly complexTypes: ComplexType[];
  readonly elements: ElementDeclaration[];
  readonly attributes: AttributeDeclaration[];
  readonly attributeGroups: AttributeGroup[];
  readonly groups: ModelGroupDefinition[];
  /** every model group read, named groups' among them */
  readonly modelGroups: ModelGroup[];
  readonly identityConstraints: IdentityConstraintDefinition[];
  /** XSD 1.1: constraints that elements have by reference, and the place to add them */
  readonly constraintReferences: {
    readonly name: QName;
    readonly origin: Origin;
    readonly constraints: IdentityConstraintDefinition[];
  }[];
  /** whether a model group may be empty, as far as known */
  readonly emptiableGroups: Map<ModelGroup, boolean>;
  /** global elements that a particle of another global component refers to */
  readonly referredElements: Set<ElementDeclaration>;
  /** the global component being read */
  readonly current: { origin: Origin | null };
  /** Counts one more component; throws `XsdSetError` beyond the limit. */
  count(at: Origin): void;
}

/** Refuses a chain of derivations or references, or a nesting, that no reader of the model could follow by recursion. */
export function reportTooDeep(at: Origin, reading: XsdReading): void {
  reading.report.fatal(
    'xsd_too_deep',
    `More than ${maxDependencyDepth} steps of derivation, reference or nesting`,
    at,
  );
}

/** The origin of another element of the same document. */
export function within(origin: Origin, node: Origin['node']): Origin {
  return { node, document: origin.document };
}
