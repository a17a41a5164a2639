/** Random XSD sets of several files: all kinds of components, which use one another freely but always let documents end. */
import type { Random } from '../../../test/fuzz/random.ts';
import { fillComplex, groupParticle, attributeOf, newComplex, type Draft } from './content.ts';
import { freshName } from './names.ts';
import { anySimple, builtIn, newSimple } from './simple-types.ts';
import {
  concreteTypes,
  keyOf,
  wholeAttributes,
  wholeParticle,
  withDerived,
  xmlUri,
  type Complex,
  type Element,
  type Schema,
  type SchemaFile,
  type Simple,
} from './terms.ts';

export function makeSchema(random: Random): Schema {
  const files = makeFiles(random);
  const own = files.filter(({ target }) => target !== xmlUri);
  const draft: Draft = {
    random,
    files: own,
    simples: [],
    complexes: [],
    elements: [],
    attributes: files.flatMap(({ attributes }) => attributes),
    groups: [],
    attributeGroups: [],
    anyType: newComplex({ file: own[0]!, isAnyType: true, mixed: true }),
  };
  const taken = { types: new Set<string>(), elements: new Set<string>(), others: new Set<string>() };
  const times = (count: number, make: (file: SchemaFile) => void): void => {
    for (let at = 0; at < count; at += 1) make(random.pick(own));
  };
  times(1 + random.below(5), (file) => {
    const type = newSimple(random, draft.simples, freshName(random, file.target, taken.types));
    file.simples.push(type);
    draft.simples.push(type);
  });
  times(random.below(3), (file) => {
    const attribute = attributeOf(draft, file, taken.others, true);
    file.attributes.push(attribute);
    draft.attributes.push(attribute);
  });
  times(random.below(3), (file) => {
    const inGroup = new Set<string>();
    const attributes = [1, 2].map(() => attributeOf(draft, file, inGroup, false));
    const group = { name: freshName(random, file.target, taken.others), attributes };
    file.attributeGroups.push(group);
    draft.attributeGroups.push(group);
  });
  times(2 + random.below(6), (file) => {
    const type = namedComplex(draft, file, taken.types);
    file.complexes.push(type);
    draft.complexes.push(type);
  });
  const globals = 1 + random.below(6);
  for (let at = 0; at < globals; at += 1) {
    const file = at === 0 ? own[0]! : random.pick(own);
    const element = globalElement(draft, file, taken.elements, at === 0);
    file.elements.push(element);
    draft.elements.push(element);
  }
  times(random.below(3), (file) => {
    const group = {
      name: freshName(random, file.target, taken.others),
      particle: groupParticle(draft, file),
    };
    file.groups.push(group);
    draft.groups.push(group);
  });
  for (const type of draft.complexes) fillComplex(draft, type);
  for (const { type } of draft.elements)
    if (type.kind === 'complex' && type.name === null && !type.isAnyType) fillComplex(draft, type);
  if (random.chance(0.3)) addKey(random, draft.elements[0]!);
  return { files, elements: draft.elements, complexes: draft.complexes };
}

function makeFiles(random: Random): SchemaFile[] {
  const file = (path: string, target: string, more: Partial<SchemaFile> = {}): SchemaFile => ({
    path,
    target,
    chameleon: false,
    qualified: random.chance(0.6),
    attributesQualified: random.chance(0.15),
    includes: [],
    simples: [],
    complexes: [],
    elements: [],
    attributes: [],
    groups: [],
    attributeGroups: [],
    ...more,
  });
  const target = random.pick(['', 'urn:m:one', 'http://example.org/a/b?c=d#e']);
  const main = file('main.xsd', target);
  const files = [main];
  if (random.chance(0.4)) {
    const part = file('parts/part.xsd', target, { chameleon: target !== '' && random.chance(0.5) });
    main.includes.push(part);
    // a circle
    if (!part.chameleon && random.chance(0.3)) part.includes.push(main);
    files.push(part);
  }
  const hasChameleon = files.some(({ chameleon }) => chameleon);
  if (random.chance(0.45))
    files.push(
      file('other.xsd', target === '' || hasChameleon ? 'urn:m:two' : random.pick(['urn:m:two', ''])),
    );
  if (random.chance(0.2)) files.push(file('parts/third.xsd', 'urn:m:three'));
  if (random.chance(0.15)) {
    const lang = builtIn('language', 'text', ({ random: one }) => one.pick(['en', 'de-CH']));
    const base = { type: lang, global: true, use: 'optional', default: null, fixed: null } as const;
    const attributes = [{ ...base, name: { uri: xmlUri, local: 'lang' } }];
    files.push(file('xml.xsd', xmlUri, { attributes }));
  }
  return files;
}

/** A named complex type without its content: new, derived from an earlier one, or with simple content. */
function namedComplex({ random, complexes, simples }: Draft, file: SchemaFile, taken: Set<string>): Complex {
  const name = freshName(random, file.target, taken);
  const rank = complexes.length + 1;
  const common = { name, file, rank, abstract: random.chance(0.1) };
  if (complexes.length > 0 && random.chance(0.4)) {
    const base = random.pick(complexes);
    const derivedBy = random.chance(0.3) ? 'restriction' : 'extension';
    const type = newComplex({ ...common, base, derivedBy, simple: base.simple, taken: base.taken });
    base.derived.push(type);
    return type;
  }
  if (!random.chance(0.2)) return newComplex(common);
  const simple: Simple = anySimple(random, simples);
  const isNamed = simple.name !== null || simple.builtIn !== null;
  const base = isNamed ? simple : builtIn('string', 'text', ({ random: one }) => one.pick(['', 'x', 'y z']));
  return newComplex({ ...common, base, derivedBy: 'extension', simple: base });
}

function globalElement(draft: Draft, file: SchemaFile, taken: Set<string>, isRoot: boolean): Element {
  const { random, elements } = draft;
  const heads = isRoot ? [] : elements.slice(1);
  const head = heads.length > 0 && random.chance(0.5) ? random.pick(heads) : null;
  const type = head === null ? globalType(draft, file, isRoot) : memberType(head.type, random);
  const element: Element = {
    name: freshName(random, file.target, taken),
    global: true,
    type,
    nillable: !isRoot && random.chance(0.1),
    abstract: !isRoot && random.chance(0.2),
    default: null,
    fixed: null,
    head,
    members: [],
    key: null,
  };
  head?.members.push(element);
  return element;
}

function globalType(draft: Draft, file: SchemaFile, isRoot: boolean): Simple | Complex {
  const { random, complexes, simples } = draft;
  const concrete = complexes.filter((type) => concreteTypes(type).length > 0 && type.simple === null);
  if (concrete.length > 0 && random.chance(isRoot ? 0.3 : 0.5)) return random.pick(concrete);
  if (isRoot || random.chance(0.4)) return newComplex({ file, rank: Infinity });
  return anySimple(random, simples);
}

/** Gives complex children of the root an attribute that a key of the root selects. */
function addKey(random: Random, root: Element): void {
  const particle = root.type.kind === 'complex' ? wholeParticle(root.type) : null;
  const parts = particle !== null && 'parts' in particle ? particle.parts : [];
  for (const part of parts) {
    if (part.kind !== 'element' || part.element.type.kind === 'simple' || part.element.type.isAnyType)
      continue;
    const { name, type } = part.element;
    const field = { uri: '', local: 'uid' };
    const number = builtIn('int', 'decimal', ({ unique }) => String(unique()));
    const isHere = wholeAttributes(type).some((one) => keyOf(one.name) === keyOf(field));
    const isNew = withDerived(type).every((one) => one.derivedBy !== 'restriction');
    if (isHere || !isNew || type.derivedBy === 'restriction' || type.simple !== null) continue;
    type.attributes.push({
      name: field,
      type: number,
      global: false,
      use: 'required',
      default: null,
      fixed: null,
    });
    root.key = { kind: random.pick(['key', 'unique']), child: name, field };
    return;
  }
}

/** The type of the head, or one derived from it. */
function memberType(type: Simple | Complex, random: Random): Simple | Complex {
  return type.kind === 'simple' || type.name === null ? type : random.pick(withDerived(type));
}
