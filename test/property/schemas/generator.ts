/** Random XSD sets: files, global components, types and what they hold. */
import type { Choices } from '../choices/random.ts';
import { fillRestriction, isRestrictable } from './complex-restriction.ts';
import {
  anonymousType,
  attributeTerm,
  elementType,
  fillType,
  fixedOrDefault,
  groupContent,
  type ContentPlace,
} from './content-generator.ts';
import { freshName } from '../choices/names.ts';
import { SchemaDraft } from './draft.ts';
import {
  withDerived,
  xmlUri,
  type ComplexTypeTerm,
  type ElementTerm,
  type SchemaFileTerm,
  type SchemaTerm,
  type SimpleTypeTerm,
  type TypeTerm,
} from './terms.ts';
import { builtInType, newSimpleType } from './simple-type-generator.ts';

export function makeSchema(choices: Choices): SchemaTerm {
  const draft = new SchemaDraft();
  makeFiles(draft, choices);
  const files = draft.files.filter((file) => file.target !== xmlUri);
  // one set of names per kind of component: XSD keeps them apart, too
  const names = {
    types: new Set<string>(),
    elements: new Set<string>(),
    attributes: new Set<string>(),
    groups: new Set<string>(),
  };
  const places = new Map<object, ContentPlace>();
  const placeIn = (file: SchemaFileTerm, completeTypes = 0): ContentPlace => ({
    draft,
    choices,
    file,
    completeTypes,
    nesting: 0,
  });

  for (let left = choices.below(4); left > 0; left -= 1) {
    const file = choices.pick(files);
    const type = newSimpleType(choices, draft.simpleTypes, freshName(choices, file.target, names.types));
    file.simpleTypes.push(type);
    draft.simpleTypes.push(type);
  }
  for (let left = choices.below(3); left > 0; left -= 1) {
    const file = choices.pick(files);
    const attribute = attributeTerm(placeIn(file), names.attributes, true);
    file.attributes.push(attribute);
    draft.attributes.push(attribute);
  }
  if (choices.chance(25)) {
    const file = choices.pick(files);
    const taken = new Set<string>();
    const group = {
      name: freshName(choices, file.target, new Set()),
      attributes: choices.several(1, 3, () => attributeTerm(placeIn(file), taken, false)),
    };
    file.attributeGroups.push(group);
    draft.attributeGroups.push(group);
  }
  for (let left = choices.below(6); left > 0; left -= 1) {
    const file = choices.pick(files);
    const type = namedType(draft, choices, file, names.types);
    places.set(type, placeIn(file, draft.complexTypes.length));
    file.complexTypes.push(type);
    draft.complexTypes.push(type);
  }
  const count = 1 + choices.below(5);
  for (let index = 0; index < count; index += 1) {
    const file = index === 0 ? files[0]! : choices.pick(files);
    const element = globalElement(placeIn(file), names.elements, index === 0);
    places.set(element, placeIn(file, Infinity));
    file.elements.push(element);
    draft.elements.push(element);
  }
  for (let left = choices.below(3); left > 0; left -= 1) {
    const file = choices.pick(files);
    const group = {
      name: freshName(choices, file.target, names.groups),
      particle: groupContent(placeIn(file)),
    };
    file.groups.push(group);
    draft.groups.push(group);
  }
  const filled = new Set<ComplexTypeTerm>();
  const fill = (type: ComplexTypeTerm, place: ContentPlace): void => {
    if (filled.has(type)) return;
    filled.add(type);
    if (type.base?.kind === 'complex') type.simple = type.base.simple;
    if (type.derivation === 'restriction' && isRestrictable(type.base as ComplexTypeTerm, place.file)) {
      fillRestriction(type, choices, place.file);
      return;
    }
    if (type.derivation === 'restriction') type.derivation = 'extension';
    fillType(type, place);
  };
  for (const type of draft.complexTypes) fill(type, places.get(type)!);
  const isWide = choices.chance(12);
  if (isWide) widen(draft, choices);
  if (choices.chance(isWide ? 30 : 3)) addLadder(draft, placeIn(files[0]!));
  for (const element of draft.elements) {
    const { type } = element;
    if (type.kind === 'complex' && type.name === null && !type.isAnyType) fill(type, places.get(element)!);
  }
  return { files: draft.files, elements: draft.elements };
}

function makeFiles(draft: SchemaDraft, choices: Choices): void {
  const file = (fileName: string, target: string, more: Partial<SchemaFileTerm> = {}): SchemaFileTerm => ({
    fileName,
    target,
    chameleon: false,
    elementsQualified: choices.chance(50),
    attributesQualified: choices.chance(20),
    includes: [],
    simpleTypes: [],
    complexTypes: [],
    elements: [],
    attributes: [],
    groups: [],
    attributeGroups: [],
    ...more,
  });
  const target = choices.pick(['', 'urn:one', 'http://example.org/a/b?c=d#e']);
  const hasPart = choices.chance(20);
  draft.files.push(file('main.xsd', target, { includes: hasPart ? ['parts/part.xsd'] : [] }));
  if (hasPart)
    draft.files.push(file('parts/part.xsd', target, { chameleon: target !== '' && choices.chance(50) }));
  // a chameleon could not name components without a namespace
  const hasChameleon = draft.files.some(({ chameleon }) => chameleon);
  const otherTarget = target === '' || hasChameleon ? 'urn:two' : choices.pick(['urn:two', '']);
  if (choices.chance(30)) draft.files.push(file('other.xsd', otherTarget));
  if (choices.chance(15)) {
    const xml = file('xml.xsd', xmlUri, { attributesQualified: true });
    const lang = {
      name: { namespaceUri: xmlUri, localName: 'lang' },
      type: builtInType('language'),
      global: true,
      use: 'optional',
      default: null,
      fixed: null,
    } as const;
    xml.attributes.push(lang);
    draft.attributes.push(lang);
    draft.files.push(xml);
  }
}

/** A named complex type, still without content: an extension, a restriction, simple content, or all new. */
function namedType(
  draft: SchemaDraft,
  choices: Choices,
  file: SchemaFileTerm,
  taken: Set<string>,
): ComplexTypeTerm {
  const name = freshName(choices, file.target, taken);
  const abstract = choices.chance(10);
  if (draft.complexTypes.length > 0 && choices.chance(40)) {
    const base = choices.pick(draft.complexTypes);
    const type = { ...anonymousType(base, choices.chance(30) ? 'restriction' : 'extension'), name, abstract };
    base.derived.push(type);
    return type;
  }
  if (!choices.chance(20)) return { ...anonymousType(null, null), name, abstract };
  const simpleTypes = [
    builtInType('string'),
    builtInType('decimal'),
    builtInType('date'),
    ...draft.simpleTypes,
  ];
  return { ...anonymousType(choices.pick<SimpleTypeTerm>(simpleTypes), 'extension'), name, abstract };
}

/** The first one can always be the root of a document. */
function globalElement(place: ContentPlace, taken: Set<string>, isFirst: boolean): ElementTerm {
  const { choices, draft, file } = place;
  const name = freshName(choices, file.target, taken);
  const head = !isFirst && choices.chance(40) ? choices.pick(draft.elements) : null;
  const type = head === null ? globalType(place, isFirst) : memberType(head.type, place);
  const element: ElementTerm = {
    name,
    global: true,
    abstract: !isFirst && choices.chance(15),
    nillable: choices.chance(10),
    type,
    ...(head === null ? fixedOrDefault(choices, type, 10) : { default: null, fixed: null }),
    head,
    members: [],
  };
  head?.members.push(element);
  return element;
}

function globalType(place: ContentPlace, isFirst: boolean): TypeTerm {
  const { choices, draft } = place;
  const concrete = draft.complexTypes.filter((type) => !type.abstract);
  if (concrete.length > 0 && choices.chance(isFirst ? 25 : 40)) return choices.pick(concrete);
  if (isFirst || choices.chance(40)) return anonymousType(null, null);
  // anonymous types of elements are filled last; here only simple ones and named ones
  return elementType({ ...place, nesting: 2 });
}

/** The head's own type, one derived from it, or a new extension of it. */
function memberType(type: TypeTerm, { choices }: ContentPlace): TypeTerm {
  if (type.kind === 'simple' || type.isAnyType) return type;
  if (type.name === null) return type;
  if (choices.chance(40)) return anonymousType(type, 'extension');
  return choices.pick(withDerived(type));
}

/** Gives some types more attributes than a table would like to have columns. */
function widen(draft: SchemaDraft, choices: Choices): void {
  // restrictions list attributes of their base; a wide base would have to be told apart from them
  const types = draft.complexTypes.filter((type) => type.derivation !== 'restriction');
  for (const type of types.filter(() => choices.chance(60))) {
    const count = choices.between(30, 350);
    const mark = `w${draft.complexTypes.indexOf(type)}_`;
    for (let number = 1; number <= count; number += 1) {
      const name = { namespaceUri: '', localName: `${mark}${number}` };
      const attributeType = number % 7 === 0 ? draft.integerType : draft.stringType;
      type.attributes.push({
        name,
        type: attributeType,
        global: false,
        use: 'optional',
        default: null,
        fixed: null,
      });
    }
  }
}

/** Types that each hold the next twice: more paths than could be written out. */
function addLadder(draft: SchemaDraft, place: ContentPlace): void {
  const { file, choices } = place;
  const element = (localName: string, type: TypeTerm): ElementTerm => ({
    name: { namespaceUri: file.elementsQualified ? file.target : '', localName },
    global: false,
    abstract: false,
    nillable: false,
    type,
    default: null,
    fixed: null,
    head: null,
    members: [],
  });
  let next: TypeTerm = draft.stringType;
  for (let step = choices.between(11, 14); step >= 0; step -= 1) {
    const type = {
      ...anonymousType(null, null),
      name: { namespaceUri: file.target, localName: `ladder${step}` },
    };
    type.particle = {
      kind: 'sequence',
      min: 1,
      max: 1,
      particles: ['left', 'right'].map((name) => ({
        kind: 'element',
        element: element(name, next),
        min: 0,
        max: step % 3 === 0 ? 2 : 1,
      })),
    };
    file.complexTypes.push(type);
    next = type;
  }
  const root: ElementTerm = {
    ...element('ladder', next),
    name: { namespaceUri: file.target, localName: 'ladder' },
    global: true,
  };
  file.elements.push(root);
  draft.elements.push(root);
}
