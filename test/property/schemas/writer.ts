/** Writes a schema term as XSD 1.0 text, in one of several styles. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from '../choices/random.ts';
import {
  xmlUri,
  type AttributeTerm,
  type ComplexTypeTerm,
  type ElementTerm,
  type Occurs,
  type ParticleTerm,
  type SchemaFileTerm,
  type SchemaTerm,
  type SimpleTypeTerm,
  type WildcardTerm,
} from './terms.ts';

const xsdUri = 'http://www.w3.org/2001/XMLSchema';

/** Text by file name; the first is the one to start from. */
export function writeXsd(schema: SchemaTerm, choices: Choices): Record<string, string> {
  return Object.fromEntries(
    schema.files.map((file) => [file.fileName, new FileWriter(schema, file, choices).text()]),
  );
}

type Attributes = Readonly<Record<string, string | null>>;

export function escapeXml(value: string): string {
  const escaped: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    '\t': '&#9;',
    '\n': '&#10;',
    '\r': '&#13;',
  };
  return value.replaceAll(/[&<>"\t\n\r]/g, (character) => escaped[character]!);
}

class FileWriter {
  readonly #schema: SchemaTerm;
  readonly #file: SchemaFileTerm;
  readonly #choices: Choices;
  /** of XSD's own elements and types; '' for the default namespace */
  readonly #own: string;
  readonly #prefixes = new Map<string, string>([[xmlUri, 'xml']]);

  constructor(schema: SchemaTerm, file: SchemaFileTerm, choices: Choices) {
    this.#schema = schema;
    this.#file = file;
    this.#choices = choices;
    const usesNone = schema.files.some(({ target }) => target === '') || file.chameleon;
    const style = usesNone ? 'prefixes' : choices.pick(['prefixes', 'xsd', 'target'] as const);
    this.#own = style === 'xsd' ? '' : choices.pick(['xs:', 'xsd:']);
    for (const { target } of schema.files) {
      if (target === '' || target === xmlUri || this.#prefixes.has(target)) continue;
      this.#prefixes.set(
        target,
        style === 'target' && target === file.target ? '' : `p${this.#prefixes.size}`,
      );
    }
  }

  text(): string {
    const { target, chameleon, elementsQualified, attributesQualified, includes } = this.#file;
    const namespaces: Record<string, string> = {
      [this.#own === '' ? 'xmlns' : `xmlns:${this.#own.slice(0, -1)}`]: xsdUri,
    };
    for (const [uri, prefix] of this.#prefixes) {
      if (uri === xmlUri || (chameleon && uri === target)) continue;
      namespaces[prefix === '' ? 'xmlns' : `xmlns:${prefix}`] = uri;
    }
    const attributes = {
      ...namespaces,
      targetNamespace: target === '' || chameleon ? null : target,
      elementFormDefault: elementsQualified ? 'qualified' : null,
      attributeFormDefault: attributesQualified ? 'qualified' : null,
    };
    const file = this.#file;
    const up = '../'.repeat(file.fileName.split('/').length - 1);
    const imported = new Map(
      this.#schema.files
        .toReversed()
        .filter((other) => other.target !== target)
        .map((other) => [other.target, other]),
    );
    const parts = [
      ...includes.map((schemaLocation) => this.#tag('include', { schemaLocation })),
      ...[...imported.values()].map((other) =>
        this.#tag('import', {
          namespace: other.target === '' ? null : other.target,
          schemaLocation: `${up}${other.fileName}`,
        }),
      ),
      ...file.elements.map((element) => this.#element(element, null)),
      ...file.simpleTypes.map((type) => this.#simpleType(type)),
      ...file.complexTypes.map((type) => this.#complexType(type)),
      ...file.attributes.map((attribute) => this.#attribute(attribute, true)),
      ...file.groups.map((group) =>
        this.#tag('group', { name: group.name.localName }, this.#particle(group.particle)),
      ),
      ...file.attributeGroups.map((group) =>
        this.#tag(
          'attributeGroup',
          { name: group.name.localName },
          group.attributes.map((one) => this.#attribute(one, false)).join(''),
        ),
      ),
    ];
    return `<?xml version="1.0" encoding="UTF-8"?>\n${this.#tag('schema', attributes, `\n${parts.join('\n')}\n`)}\n`;
  }

  #tag(name: string, attributes: Attributes, content = ''): string {
    const written = Object.entries(attributes)
      .map(([key, value]) => (value === null ? '' : ` ${key}="${escapeXml(value)}"`))
      .join('');
    const tag = `${this.#own}${name}`;
    return content === '' ? `<${tag}${written}/>` : `<${tag}${written}>${content}</${tag}>`;
  }

  #name({ namespaceUri, localName }: QName): string {
    if (namespaceUri === '' || (this.#file.chameleon && namespaceUri === this.#file.target)) return localName;
    const prefix = this.#prefixes.get(namespaceUri)!;
    return prefix === '' ? localName : `${prefix}:${localName}`;
  }

  /** The name of a type that has one; null for an anonymous one. */
  #typeName(type: SimpleTypeTerm | ComplexTypeTerm): string | null {
    if (type.name !== null) return this.#name(type.name);
    if (type.kind === 'complex') return type.isAnyType ? `${this.#own}anyType` : null;
    return type.builtIn === null ? null : `${this.#own}${type.builtIn}`;
  }

  #annotation(): string {
    if (!this.#choices.chance(5)) return '';
    return this.#tag(
      'annotation',
      {},
      this.#tag('documentation', {}, `what it's for: -- "${this.#choices.pick(['é', '&amp;', '\\', '%'])}"`),
    );
  }

  #occurs({ min, max }: Occurs): Attributes {
    return {
      minOccurs: min === 1 ? null : String(min),
      maxOccurs: max === null ? 'unbounded' : max === 1 ? null : String(max),
    };
  }

  /** `occurs`: null for a global declaration */
  #element(element: ElementTerm, occurs: Occurs | null): string {
    const { name, type, nillable, abstract, head } = element;
    if (occurs !== null && element.global)
      return this.#tag('element', { ref: this.#name(name), ...this.#occurs(occurs) });
    const typeName = this.#typeName(type);
    const inheritsType =
      head !== null && head.type === type && (typeName === null || this.#choices.chance(30));
    const attributes = {
      name: name.localName,
      type: inheritsType ? null : typeName,
      form: occurs === null ? null : this.#form(name, this.#file.elementsQualified),
      ...(occurs === null ? {} : this.#occurs(occurs)),
      nillable: nillable ? 'true' : null,
      abstract: abstract ? 'true' : null,
      substitutionGroup: head === null ? null : this.#name(head.name),
      default: element.default,
      fixed: element.fixed,
    };
    const inner =
      inheritsType || typeName !== null
        ? ''
        : type.kind === 'simple'
          ? this.#simpleType(type)
          : this.#complexType(type);
    return this.#tag('element', attributes, this.#annotation() + inner);
  }

  #form(name: QName, byDefault: boolean): string | null {
    const qualified = name.namespaceUri !== '';
    return this.#file.target === '' || qualified === byDefault
      ? null
      : qualified
        ? 'qualified'
        : 'unqualified';
  }

  #simpleType(type: SimpleTypeTerm): string {
    const content = type.base === null ? this.#newVariety(type) : this.#simpleRestriction(type);
    return this.#tag('simpleType', { name: type.name?.localName ?? null }, this.#annotation() + content);
  }

  #newVariety(type: SimpleTypeTerm): string {
    if (type.variety === 'list') {
      const item = this.#typeName(type.item!);
      return this.#tag('list', { itemType: item }, item === null ? this.#simpleType(type.item!) : '');
    }
    const named = type.members.map((member) => this.#typeName(member)!);
    return this.#tag('union', { memberTypes: named.join(' ') });
  }

  #simpleRestriction(type: SimpleTypeTerm): string {
    const base = this.#typeName(type.base!);
    return this.#tag(
      'restriction',
      { base },
      (base === null ? this.#simpleType(type.base!) : '') + this.#facets(type),
    );
  }

  #facets(type: SimpleTypeTerm): string {
    return type.facets.map(([name, value]) => this.#tag(name, { value })).join('');
  }

  #complexType(type: ComplexTypeTerm): string {
    const attributes = { name: type.name?.localName ?? null, abstract: type.abstract ? 'true' : null };
    if (type.simple !== null) {
      const facets = type.derivation === 'restriction' ? this.#facets(type.simple) : '';
      const derivation = this.#tag(
        type.derivation!,
        { base: this.#typeName(type.base!) },
        facets + this.#attributes(type),
      );
      return this.#tag(
        'complexType',
        attributes,
        this.#annotation() + this.#tag('simpleContent', {}, derivation),
      );
    }
    const mixed = type.mixed ? this.#choices.pick(['true', '1']) : null;
    const body = (type.particle === null ? '' : this.#particle(type.particle)) + this.#attributes(type);
    if (type.base === null)
      return this.#tag('complexType', { ...attributes, mixed }, this.#annotation() + body);
    const inside = this.#choices.chance(50);
    const derivation = this.#tag(type.derivation!, { base: this.#typeName(type.base) }, body);
    const content = this.#tag('complexContent', { mixed: inside ? mixed : null }, derivation);
    return this.#tag(
      'complexType',
      { ...attributes, mixed: inside ? null : mixed },
      this.#annotation() + content,
    );
  }

  #particle(particle: ParticleTerm): string {
    switch (particle.kind) {
      case 'element':
        return this.#element(particle.element, particle);
      case 'any':
        return this.#tag('any', { ...this.#wildcard(particle.wildcard), ...this.#occurs(particle) });
      case 'group':
        return this.#tag('group', { ref: this.#name(particle.group.name), ...this.#occurs(particle) });
      default:
        return this.#tag(
          particle.kind,
          this.#occurs(particle),
          particle.particles.map((one) => this.#particle(one)).join('') || ' ',
        );
    }
  }

  #wildcard({ namespaces, processContents }: WildcardTerm): Attributes {
    return {
      namespace: namespaces === '##any' && this.#choices.chance(50) ? null : namespaces,
      processContents: processContents === 'strict' ? null : processContents,
    };
  }

  #attributes({ attributes, attributeGroups, anyAttribute }: ComplexTypeTerm): string {
    return [
      ...attributes.map((attribute) => this.#attribute(attribute, false)),
      ...attributeGroups.map((group) => this.#tag('attributeGroup', { ref: this.#name(group.name) })),
      ...(anyAttribute === null ? [] : [this.#tag('anyAttribute', this.#wildcard(anyAttribute))]),
    ].join('');
  }

  #attribute(attribute: AttributeTerm, isDeclaration: boolean): string {
    const { name, type, use } = attribute;
    const written = isDeclaration || use === 'optional' ? null : use;
    if (attribute.global && !isDeclaration)
      return this.#tag('attribute', { ref: this.#name(name), use: written });
    const form = isDeclaration ? null : this.#form(name, this.#file.attributesQualified);
    if (use === 'prohibited') return this.#tag('attribute', { name: name.localName, form, use });
    const typeName = this.#typeName(type);
    const attributes = {
      name: name.localName,
      type: typeName,
      form,
      use: written,
      default: attribute.default,
      fixed: attribute.fixed,
    };
    return this.#tag('attribute', attributes, typeName === null ? this.#simpleType(type) : '');
  }
}
