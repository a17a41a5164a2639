/** Random XSDs that change from version to version, with documents whose values say where they stand. */
import fc from 'fast-check';
import { Choices, decisions } from '../choices/random.ts';

interface ChildTerm {
  name: string;
  /** null: a string */
  type: TypeTerm | null;
  required: boolean;
  repeated: boolean;
  nillable: boolean;
}

interface TypeTerm {
  readonly name: string;
  /** written out at each of its places, without a name */
  anonymous: boolean;
  children: ChildTerm[];
  /** names of attributes beside `p`, the path of the element */
  attributes: string[];
  base: TypeTerm | null;
  choice: boolean;
}

export interface SchemaVersion {
  readonly xsd: string;
  readonly documents: readonly string[];
}

export interface VersionCase {
  readonly versions: readonly SchemaVersion[];
  [fc.toStringMethod](): string;
}

const names = ['a', 'b', 'c', 'seller', 'payee', 'note', 'item', 'key', 'present', 'value'];
const maxTypes = 6;
/** elements of one document, about */
const largest = 25;

export function versionCases(): fc.Arbitrary<VersionCase> {
  return decisions(900).map((numbers) => {
    const choices = new Choices(numbers);
    const draft = new VersionDraft(choices);
    const versions = [draft.version()];
    for (let count = choices.between(1, 3); count > 0; count -= 1) {
      for (let changes = choices.between(1, 4); changes > 0; changes -= 1) draft.change();
      versions.push(draft.version());
    }
    return {
      versions,
      [fc.toStringMethod]: () =>
        versions.map(({ xsd, documents }) => `\n${[xsd, ...documents].join('\n')}`).join('\n'),
    };
  });
}

class VersionDraft {
  readonly #choices: Choices;
  readonly #types: TypeTerm[] = [];
  #numbered = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
    for (let count = choices.between(2, maxTypes); count > 0; count -= 1) {
      const [first] = this.#types;
      const base = first !== undefined && isNamed(first) && choices.chance(15) ? first : null;
      const type: TypeTerm = {
        name: `T${(this.#numbered += 1)}`,
        anonymous: base === null && choices.chance(25),
        children: [],
        attributes: choices.several(0, 2, () => choices.pick(['x', 'y', 'key'])),
        base,
        choice: choices.chance(20),
      };
      this.#types.push(type);
      for (let left = choices.between(0, 4); left > 0; left -= 1) this.#insert(type);
    }
  }

  get #root(): TypeTerm {
    return this.#types.at(-1)!;
  }

  /** Types hold those before them, or, named and optional, any: so what has to be there ends. */
  #insert(type: TypeTerm): void {
    const choices = this.#choices;
    const name = choices.pick(names);
    if (taken(type).has(name)) return;
    const before = this.#types.slice(0, this.#types.indexOf(type));
    const candidates = before.length > 0 && choices.chance(70) ? before : this.#types.filter(isNamed);
    const child = choices.chance(65) && candidates.length > 0 ? choices.pick(candidates) : null;
    const isDeeper = child === null || before.includes(child);
    type.children.splice(choices.below(type.children.length + 1), 0, {
      name,
      type: child,
      required: isDeeper && choices.chance(40),
      repeated: choices.chance(35),
      nillable: choices.chance(10),
    });
  }

  change(): void {
    const choices = this.#choices;
    const type = choices.pick(this.#types);
    const [child] = choices.shuffled(type.children);
    switch (choices.below(11)) {
      case 0:
      case 1:
      case 2:
        return this.#insert(type);
      case 3:
        if (child !== undefined) type.children.splice(type.children.indexOf(child), 1);
        return;
      case 4:
        type.children = choices.shuffled(type.children);
        return;
      case 5:
        if (child !== undefined) child.repeated = !child.repeated;
        return;
      case 6:
        if (child !== undefined) child.required = false;
        return;
      case 7:
        return this.#splitType(type);
      case 8:
        return this.#joinTypes();
      case 9:
        if (type.attributes.length > 0 && choices.chance(50)) type.attributes.pop();
        else type.attributes.push(choices.pick(['x', 'y', 'z']));
        return;
      default:
        if (child !== undefined) child.nillable = !child.nillable;
    }
  }

  /** One of the places of a type gets a copy of it, under a name of its own. */
  #splitType(type: TypeTerm): void {
    const places = this.#types.flatMap(({ children }) => children.filter((child) => child.type === type));
    if (places.length === 0) return;
    const copy: TypeTerm = {
      ...type,
      name: `T${(this.#numbered += 1)}`,
      children: type.children.map((child) => ({ ...child })),
      attributes: [...type.attributes],
    };
    this.#types.splice(this.#types.indexOf(type) + 1, 0, copy);
    this.#choices.pick(places).type = copy;
  }

  /** Places of one type become places of another that stands before it. */
  #joinTypes(): void {
    if (this.#types.length < 3) return;
    const at = this.#choices.between(1, this.#types.length - 2);
    const [from, to] = [this.#types[at]!, this.#types[this.#choices.below(at)]!];
    for (const { children } of this.#types)
      for (const child of children) if (child.type === from) child.type = to;
    // written out, one that holds itself now would have no end
    to.anonymous = false;
  }

  version(): SchemaVersion {
    const body = this.#types.filter(isNamed).map((type) => definition(type, ` name="${type.name}"`));
    const root = `<xs:element name="r">${definition({ ...this.#root, anonymous: true }, '')}</xs:element>`;
    const documents = this.#choices.several(1, 2, () => this.#document());
    return {
      xsd: `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${root}${body.join('')}</xs:schema>`,
      documents,
    };
  }

  #document(): string {
    return new DocumentDraft(this.#choices, this.#types).element('r', this.#root, '/r', false);
  }
}

class DocumentDraft {
  readonly #choices: Choices;
  readonly #types: readonly TypeTerm[];
  #elements = 0;

  constructor(choices: Choices, types: readonly TypeTerm[]) {
    this.#choices = choices;
    this.#types = types;
  }

  element(name: string, declared: TypeTerm, path: string, mayBeOther: boolean): string {
    const choices = this.#choices;
    this.#elements += 1;
    const derived = mayBeOther ? this.#types.filter(({ base }) => base === declared && base !== null) : [];
    const type = derived.length > 0 && choices.chance(40) ? choices.pick(derived) : declared;
    const said =
      type === declared
        ? ''
        : ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type.name}"`;
    const attributes = new Set(allAttributes(type).filter(() => choices.chance(60)));
    const values = [...attributes].map((attribute) => ` ${attribute}="${path}/@${attribute}"`);
    const known = new Set(type.base?.children.map((child) => child.name) ?? []);
    const own = { ...type, children: type.children.filter((child) => !known.has(child.name)) };
    const content = [...(type.base === null ? [] : [type.base]), own].map((one) => this.#content(one, path));
    return `<${name}${said} p="${path}#${this.#elements}"${values.join('')}>${content.join('')}</${name}>`;
  }

  #content({ children, choice }: TypeTerm, path: string): string {
    const choices = this.#choices;
    const one = (child: ChildTerm): string => {
      const inner = `${path}/${child.name}`;
      if (child.type !== null) return this.element(child.name, child.type, inner, isNamed(child.type));
      return child.nillable && choices.chance(30)
        ? `<${child.name} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>`
        : `<${child.name}>${inner}</${child.name}>`;
    };
    const some = choice ? choices.shuffled(children) : children;
    return some
      .flatMap((child) => {
        const isWanted = (child.required && !choice) || (this.#elements < largest && choices.chance(65));
        const isMany = child.repeated && this.#elements < largest;
        const count = !isWanted ? 0 : isMany ? choices.between(1, 3) : 1;
        return Array.from({ length: count }, () => one(child));
      })
      .join('');
  }
}

function isNamed({ anonymous }: TypeTerm): boolean {
  return !anonymous;
}

/** A type and what it extends, the base first. */
function chain(type: TypeTerm): readonly TypeTerm[] {
  return type.base === null ? [type] : [type.base, type];
}

function allAttributes(type: TypeTerm): string[] {
  return [...new Set(chain(type).flatMap(({ attributes }) => attributes))];
}

function taken(type: TypeTerm): ReadonlySet<string> {
  return new Set(chain(type).flatMap(({ children }) => children.map(({ name }) => name)));
}

function definition(type: TypeTerm, named: string): string {
  const { base } = type;
  const known = new Set(base?.children.map(({ name }) => name) ?? []);
  const children = type.children
    .filter(({ name }) => !known.has(name))
    .map(({ name, type: inner, required, repeated, nillable }) => {
      const start = `<xs:element name="${name}"${required ? '' : ' minOccurs="0"'}${repeated ? ' maxOccurs="unbounded"' : ''}${nillable ? ' nillable="true"' : ''}`;
      if (inner === null) return `${start} type="xs:string"/>`;
      return isNamed(inner)
        ? `${start} type="${inner.name}"/>`
        : `${start}>${definition(inner, '')}</xs:element>`;
    })
    .join('');
  const group = type.choice
    ? `<xs:choice minOccurs="0" maxOccurs="unbounded">${children}</xs:choice>`
    : `<xs:sequence>${children}</xs:sequence>`;
  const inherited = new Set(['p', ...(base?.attributes ?? [])]);
  const own = [...new Set(type.attributes)].filter((name) => !inherited.has(name));
  const attributes = [...(base === null ? ['p'] : []), ...own]
    .map((name) => `<xs:attribute name="${name}" type="xs:string"/>`)
    .join('');
  const content = children === '' && type.choice ? attributes : group + attributes;
  return base === null
    ? `<xs:complexType${named}>${content}</xs:complexType>`
    : `<xs:complexType${named}><xs:complexContent><xs:extension base="${base.name}">${content}</xs:extension></xs:complexContent></xs:complexType>`;
}
