/** Writes a random XSD set as text, one file after another. */
import {
  xmlUri,
  type Attribute,
  type Complex,
  type Element,
  type Name,
  type Occurs,
  type Particle,
  type Schema,
  type SchemaFile,
  type Simple,
  type Wildcard,
} from './terms.ts';

type Attributes = Readonly<Record<string, string | null>>;

/** Returns the texts by path; the first is the entry. */
export function writeSchema(schema: Schema): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const file of schema.files) texts[file.path] = new FileWriter(schema, file).text();
  return texts;
}

export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`);
}

class FileWriter {
  readonly #schema: Schema;
  readonly #file: SchemaFile;

  constructor(schema: Schema, file: SchemaFile) {
    this.#schema = schema;
    this.#file = file;
  }

  text(): string {
    const { files } = this.#schema;
    const { target, chameleon, qualified, attributesQualified, path } = this.#file;
    const up = path.includes('/') ? '../' : '';
    const namespaces = Object.fromEntries(
      files
        .filter(
          (file) => file.target !== '' && file.target !== xmlUri && !(chameleon && file.target === target),
        )
        .map((file) => [`xmlns:${this.#prefix(file.target)}`, file.target]),
    );
    const redefined = files.flatMap((file) => this.#redefinitions(file));
    const parts = [
      ...this.#file.includes.map((file) =>
        redefined.some(([one]) => one === file)
          ? this.#redefine(file)
          : tag('include', { schemaLocation: up + file.path }),
      ),
      ...files
        .filter((file) => file.target !== target && files.find((one) => one.target === file.target) === file)
        .map((file) => tag('import', { namespace: file.target || null, schemaLocation: up + file.path })),
      ...this.#file.simples.map((type) => this.#simple(type)),
      ...this.#file.attributes.map((attribute) => this.#attribute(attribute, true)),
      ...this.#file.attributeGroups.map(({ name, attributes }) =>
        tag(
          'attributeGroup',
          { name: name.local },
          attributes.map((one) => this.#attribute(one, false)).join(''),
        ),
      ),
      ...this.#file.groups.map(({ name, particle }) =>
        tag('group', { name: name.local }, this.#particle(particle)),
      ),
      ...this.#file.elements.map((element) => this.#element(element, null)),
      ...this.#file.complexes.map((type) => this.#complex(type)),
    ];
    const attributes = {
      'xmlns:xs': 'http://www.w3.org/2001/XMLSchema',
      ...namespaces,
      targetNamespace: chameleon ? null : target || null,
      elementFormDefault: qualified ? 'qualified' : null,
      attributeFormDefault: attributesQualified ? 'qualified' : null,
    };
    return `<?xml version="1.0"?>\n${tag('schema', attributes, `\n${parts.join('\n')}\n`)}\n`;
  }

  /** The including file redefines types of files that it includes. */
  #redefinitions(file: SchemaFile): [SchemaFile, Complex][] {
    if (!this.#file.includes.includes(file)) return [];
    return file.complexes.filter((type) => type.redefinition !== null).map((type) => [file, type]);
  }

  #redefine(file: SchemaFile): string {
    const types = this.#redefinitions(file).map(([, type]) => {
      const { particle, attributes } = type.redefinition!;
      const body = this.#particle(particle) + attributes.map((one) => this.#attribute(one, false)).join('');
      const extension = tag('extension', { base: this.#ref(type.name!) }, body);
      const mixed = type.mixed ? 'true' : null;
      const abstract = type.abstract ? 'true' : null;
      return tag(
        'complexType',
        { name: type.name!.local, abstract },
        tag('complexContent', { mixed }, extension),
      );
    });
    return tag('redefine', { schemaLocation: file.path }, types.join(''));
  }

  #prefix(uri: string): string {
    return `n${[...new Set(this.#schema.files.map((file) => file.target))].indexOf(uri)}`;
  }

  #ref(name: Name): string {
    if (name.uri === xmlUri) return `xml:${name.local}`;
    const isBare = name.uri === '' || (this.#file.chameleon && name.uri === this.#file.target);
    return isBare ? name.local : `${this.#prefix(name.uri)}:${name.local}`;
  }

  #typeRef(type: Simple | Complex): string | null {
    if (type.name !== null) return this.#ref(type.name);
    if (type.kind === 'complex') return type.isAnyType ? 'xs:anyType' : null;
    return type.builtIn === null ? null : `xs:${type.builtIn}`;
  }

  #form(name: Name, byDefault: boolean): string | null {
    const isQualified = name.uri !== '';
    if (this.#file.target === '' || isQualified === byDefault) return null;
    return isQualified ? 'qualified' : 'unqualified';
  }

  /** `occurs` null: a global declaration */
  #element(element: Element, occurs: Occurs | null): string {
    const { name, type, head, key } = element;
    if (occurs !== null && element.global)
      return tag('element', { ref: this.#ref(name), ...occursOf(occurs) });
    const attributes = {
      name: name.local,
      type: head?.type === type ? null : this.#typeRef(type),
      form: occurs === null ? null : this.#form(name, this.#file.qualified),
      ...(occurs === null ? {} : occursOf(occurs)),
      nillable: element.nillable ? 'true' : null,
      abstract: element.abstract ? 'true' : null,
      substitutionGroup: head === null ? null : this.#ref(head.name),
      default: element.default,
      fixed: element.fixed,
    };
    const isInline = attributes.type === null && head?.type !== type;
    const inner = !isInline ? '' : type.kind === 'simple' ? this.#simple(type) : this.#complex(type);
    return tag('element', attributes, inner + (key === null ? '' : this.#key(key)));
  }

  #key({ kind, child, field }: NonNullable<Element['key']>): string {
    const paths =
      tag('selector', { xpath: this.#ref(child) }) + tag('field', { xpath: `@${this.#ref(field)}` });
    return tag(kind, { name: 'keyOfChildren' }, paths);
  }

  #simple(type: Simple): string {
    return tag('simpleType', { name: type.name?.local ?? null }, this.#variety(type));
  }

  #variety(type: Simple): string {
    const { base, item, members, facets } = type;
    if (base !== null) {
      const ref = this.#typeRef(base);
      const inner = facets.map(([name, value]) => tag(name, { value })).join('');
      return tag('restriction', { base: ref }, (ref === null ? this.#simple(base) : '') + inner);
    }
    if (item !== null) {
      const ref = this.#typeRef(item);
      return tag('list', { itemType: ref }, ref === null ? this.#simple(item) : '');
    }
    return tag('union', { memberTypes: members.map((member) => this.#typeRef(member)).join(' ') });
  }

  #complex(type: Complex): string {
    const { base, derivedBy, simple } = type;
    const mixed = type.mixed ? 'true' : null;
    const attributes = { name: type.name?.local ?? null, abstract: type.abstract ? 'true' : null };
    const particle = type.particle === null ? '' : this.#particle(type.particle);
    const body = particle + this.#attributes(type);
    if (base === null || derivedBy === null) return tag('complexType', { ...attributes, mixed }, body);
    const derivation = tag(derivedBy, { base: this.#typeRef(base) }, body);
    const content =
      simple === null ? tag('complexContent', { mixed }, derivation) : tag('simpleContent', {}, derivation);
    return tag('complexType', attributes, content);
  }

  #attributes({ attributes, attributeGroups, anyAttribute }: Complex): string {
    return [
      ...attributes.map((attribute) => this.#attribute(attribute, false)),
      ...attributeGroups.map((group) => tag('attributeGroup', { ref: this.#ref(group.name) })),
      ...(anyAttribute === null ? [] : [tag('anyAttribute', wildcardOf(anyAttribute))]),
    ].join('');
  }

  #attribute(attribute: Attribute, isDeclaration: boolean): string {
    const { name, type, use, global } = attribute;
    const written = isDeclaration || use === 'optional' ? null : use;
    if (global && !isDeclaration) return tag('attribute', { ref: this.#ref(name), use: written });
    const form = isDeclaration ? null : this.#form(name, this.#file.attributesQualified);
    if (use === 'prohibited') return tag('attribute', { name: name.local, form, use });
    const ref = this.#typeRef(type);
    const given = {
      name: name.local,
      type: ref,
      form,
      use: written,
      default: attribute.default,
      fixed: attribute.fixed,
    };
    return tag('attribute', given, ref === null ? this.#simple(type) : '');
  }

  #particle(particle: Particle): string {
    const occurs = occursOf(particle);
    if (particle.kind === 'element') return this.#element(particle.element, particle);
    if (particle.kind === 'any') return tag('any', { ...wildcardOf(particle.wildcard), ...occurs });
    if (particle.kind === 'group') return tag('group', { ref: this.#ref(particle.group.name), ...occurs });
    return tag(particle.kind, occurs, particle.parts.map((part) => this.#particle(part)).join('') || ' ');
  }
}

function wildcardOf({ namespace, process }: Wildcard): Attributes {
  return { namespace, processContents: process };
}

function occursOf({ min, max }: Occurs): Attributes {
  return {
    minOccurs: min === 1 ? null : String(min),
    maxOccurs: max === Infinity ? 'unbounded' : max === 1 ? null : String(max),
  };
}

function tag(name: string, attributes: Attributes, content = ''): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== null);
  const start = `xs:${name}${given.map(([key, value]) => ` ${key}="${escapeText(value!)}"`).join('')}`;
  return content === '' ? `<${start}/>` : `<${start}>${content}</xs:${name}>`;
}
