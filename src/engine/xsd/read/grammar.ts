/**
 * The grammar of XSD documents: the schema for schemas (XSD Part 1, Appendix A) as data, with the elements and attributes that XSD 1.1
 * adds. A construct is an element in its context: `localElement` is an `element` inside a model group.
 */
import { ncName, qualifiedName } from '../values/lexical-form.ts';

/** Forms of attribute values. */
type ValueForm =
  | 'any'
  | 'ncName'
  | 'qName'
  | 'qNames'
  | 'boolean'
  | 'count'
  | 'countOrUnbounded'
  | 'form'
  | 'use'
  | 'processContents'
  | 'namespaces'
  | 'targetNamespace'
  | 'elementBlock'
  | 'derivations'
  | 'simpleFinal'
  | 'schemaFinal';

/** One step in a content sequence: the allowed child elements, each with its construct, and how often they occur. */
export interface ContentStep {
  readonly children: ReadonlyMap<string, string>;
  readonly least: 0 | 1;
  readonly most: 1 | typeof Infinity;
}

export interface Construct {
  readonly attributes: ReadonlyMap<string, ValueForm>;
  readonly required: readonly string[];
  /** alternatives, each a sequence of steps; null: anything */
  readonly content: readonly (readonly ContentStep[])[] | null;
}

const documentationOnly = 'annotation?';
const attributeUses = '(attribute:localAttribute|attributeGroup:attributeGroupRef)* anyAttribute?';
const particles = '(group:groupRef|all|choice|sequence)?';
const facetElements =
  '(length:facet|minLength:facet|maxLength:facet|minInclusive:facet|maxInclusive:facet|minExclusive:facet|maxExclusive:facet' +
  '|totalDigits:facet|fractionDigits:facet|whiteSpace:facet|enumeration:plainFacet|pattern:plainFacet' +
  '|assertion:assert|explicitTimezone:facet|minScale:facet|maxScale:facet)*';
const members = '(element:localElement|group:groupRef|choice|sequence|any)*';
const globals = '(simpleType|complexType|group|attributeGroup|element|attribute|notation|annotation)*';
const occurs = 'minOccurs=count maxOccurs=countOrUnbounded';
const typeContent = '(simpleType:localSimpleType|complexType:localComplexType)?';
const constraints = '(unique|key|keyref)*';
const wildcard = 'namespace=namespaces processContents=processContents notNamespace=any notQName=any';

/** Construct: attributes (`name=form`, `!` when required), then alternatives of content. */
const rules: Readonly<Record<string, readonly [string, ...string[]]>> = {
  schema: [
    'targetNamespace=targetNamespace version=any finalDefault=schemaFinal blockDefault=elementBlock attributeFormDefault=form elementFormDefault=form defaultAttributes=qName xpathDefaultNamespace=any',
    `(include|import|redefine|override|annotation)* defaultOpenContent? ${globals}`,
  ],
  include: ['schemaLocation=any!', documentationOnly],
  import: ['schemaLocation=any namespace=any', documentationOnly],
  redefine: ['schemaLocation=any!', '(annotation|simpleType|complexType|group|attributeGroup)*'],
  override: ['schemaLocation=any!', globals],
  annotation: ['', '(appinfo|documentation)*'],
  appinfo: ['source=any'],
  documentation: ['source=any'],
  notation: ['name=ncName! public=any system=any', documentationOnly],
  element: [
    'name=ncName! type=qName substitutionGroup=qNames default=any fixed=any nillable=boolean abstract=boolean final=derivations block=elementBlock',
    `annotation? ${typeContent} alternative* ${constraints}`,
  ],
  localElement: [
    `name=ncName ref=qName type=qName ${occurs} default=any fixed=any nillable=boolean block=elementBlock form=form targetNamespace=any`,
    `annotation? ${typeContent} alternative* ${constraints}`,
  ],
  alternative: ['test=any type=qName xpathDefaultNamespace=any', `annotation? ${typeContent}`],
  attribute: [
    'name=ncName! type=qName default=any fixed=any inheritable=boolean',
    'annotation? simpleType:localSimpleType?',
  ],
  localAttribute: [
    'name=ncName ref=qName type=qName use=use default=any fixed=any form=form targetNamespace=any inheritable=boolean',
    'annotation? simpleType:localSimpleType?',
  ],
  complexType: [
    'name=ncName! mixed=boolean abstract=boolean final=derivations block=derivations defaultAttributesApply=boolean',
    'annotation? (simpleContent|complexContent)!',
    `annotation? openContent? ${particles} ${attributeUses} assert*`,
  ],
  localComplexType: [
    'mixed=boolean defaultAttributesApply=boolean',
    'annotation? (simpleContent|complexContent)!',
    `annotation? openContent? ${particles} ${attributeUses} assert*`,
  ],
  simpleContent: ['', 'annotation? (restriction:simpleContentRestriction|extension:simpleContentExtension)!'],
  complexContent: [
    'mixed=boolean',
    'annotation? (restriction:complexDerivation|extension:complexDerivation)!',
  ],
  simpleContentRestriction: [
    'base=qName!',
    `annotation? simpleType:localSimpleType? ${facetElements} ${attributeUses} assert*`,
  ],
  simpleContentExtension: ['base=qName!', `annotation? ${attributeUses} assert*`],
  complexDerivation: ['base=qName!', `annotation? openContent? ${particles} ${attributeUses} assert*`],
  openContent: ['mode=any', 'annotation? any?'],
  defaultOpenContent: ['mode=any appliesToEmpty=boolean', 'annotation? any?'],
  assert: ['test=any xpathDefaultNamespace=any', documentationOnly],
  simpleType: ['name=ncName! final=simpleFinal', 'annotation? (restriction|list|union)!'],
  localSimpleType: ['', 'annotation? (restriction|list|union)!'],
  restriction: ['base=qName', `annotation? simpleType:localSimpleType? ${facetElements}`],
  list: ['itemType=qName', 'annotation? simpleType:localSimpleType?'],
  union: ['memberTypes=qNames', 'annotation? simpleType:localSimpleType*'],
  facet: ['value=any! fixed=boolean', documentationOnly],
  plainFacet: ['value=any!', documentationOnly],
  group: ['name=ncName!', 'annotation? (all:groupAll|choice:groupChoice|sequence:groupSequence)!'],
  groupRef: [`ref=qName! ${occurs}`, documentationOnly],
  groupAll: ['', 'annotation? (element:localElement|group:groupRef|any)*'],
  groupChoice: ['', `annotation? ${members}`],
  groupSequence: ['', `annotation? ${members}`],
  all: [occurs, 'annotation? (element:localElement|group:groupRef|any)*'],
  choice: [occurs, `annotation? ${members}`],
  sequence: [occurs, `annotation? ${members}`],
  any: [`${wildcard} ${occurs}`, documentationOnly],
  anyAttribute: [wildcard, documentationOnly],
  attributeGroup: ['name=ncName!', `annotation? ${attributeUses}`],
  attributeGroupRef: ['ref=qName!', documentationOnly],
  unique: ['name=ncName!', 'annotation? selector! field+'],
  key: ['name=ncName!', 'annotation? selector! field+'],
  keyref: ['name=ncName! refer=qName!', 'annotation? selector! field+'],
  constraintRef: ['ref=qName!', documentationOnly],
  selector: ['xpath=any! xpathDefaultNamespace=any', documentationOnly],
  field: ['xpath=any! xpathDefaultNamespace=any', documentationOnly],
};

function readSteps(notation: string): ContentStep[] {
  return notation.split(' ').map((part) => {
    const [, names, suffix] = /^\(?([^)?*+!]+)\)?([?*+!])$/u.exec(part)!;
    const children = names!.split('|').map((name): [string, string] => {
      const [child, construct = child] = name.split(':') as [string, string?];
      return [child, construct];
    });
    return {
      children: new Map(children),
      least: suffix === '?' || suffix === '*' ? 0 : 1,
      most: suffix === '?' || suffix === '!' ? 1 : Infinity,
    };
  });
}

/** The constructs by name. */
export function readSchemaGrammar(): ReadonlyMap<string, Construct> {
  const constructs = new Map<string, Construct>();
  for (const [name, [attributeNotation, ...alternatives]] of Object.entries(rules)) {
    const attributes = new Map<string, ValueForm>();
    // other programs use their content, and nearly all of their attributes
    if (name !== 'appinfo' && name !== 'documentation') attributes.set('id', 'ncName');
    const required: string[] = [];
    for (const part of attributeNotation.split(' ')) {
      const [attribute = '', form = ''] = part.replace('!', '').split('=');
      if (attribute === '') continue;
      attributes.set(attribute, form as ValueForm);
      if (part.endsWith('!')) required.push(attribute);
    }
    const content = alternatives.length === 0 ? null : alternatives.map((notation) => readSteps(notation));
    constructs.set(name, { attributes, required, content });
  }
  return constructs;
}

// The lexical forms of the attribute values of XSD elements.

const controlSets: Readonly<Partial<Record<ValueForm, readonly string[]>>> = {
  elementBlock: ['extension', 'restriction', 'substitution'],
  derivations: ['extension', 'restriction'],
  simpleFinal: ['list', 'union', 'restriction', 'extension'],
  schemaFinal: ['extension', 'restriction', 'list', 'union'],
};

const words: Readonly<Partial<Record<ValueForm, readonly string[]>>> = {
  boolean: ['true', 'false', '1', '0'],
  form: ['qualified', 'unqualified'],
  use: ['optional', 'required', 'prohibited'],
  processContents: ['strict', 'lax', 'skip'],
};

/** True when an attribute of an XSD element has a value of the form (XSD Part 1, Appendix A). */
export function hasForm(form: ValueForm, value: string): boolean {
  if (form === 'any') return true;
  const text = collapse(value);
  const allowed = words[form];
  if (allowed !== undefined) return allowed.includes(text);
  const controls = controlSets[form];
  if (controls !== undefined) {
    return text === '' || text === '#all' || text.split(' ').every((word) => controls.includes(word));
  }
  switch (form) {
    case 'ncName':
      return ncName.test(text);
    case 'qName':
      return qualifiedName.test(text);
    case 'qNames':
      return text === '' || text.split(' ').every((word) => qualifiedName.test(word));
    case 'count':
      return /^\+?\d+$/u.test(text);
    case 'countOrUnbounded':
      return text === 'unbounded' || /^\+?\d+$/u.test(text);
    case 'targetNamespace':
      return text !== '';
    case 'namespaces':
      if (text === '##any' || text === '##other' || text === '') return true;
      return text
        .split(' ')
        .every((word) => !word.startsWith('##') || word === '##targetNamespace' || word === '##local');
    default:
      return true;
  }
}

// White space in XSD documents (XSD Part 2 §4.3.6).

/** Collapses white space: leading and trailing off, runs to one space. */
export function collapse(text: string): string {
  return /^\s|\s$|\s\s|[\t\r\n]/u.test(text)
    ? text.replace(/[ \t\r\n]+/gu, ' ').replace(/^ | $/gu, '')
    : text;
}
