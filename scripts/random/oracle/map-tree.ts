/** The catalogue's map as a tree of XPath steps, which elements and attributes of documents are looked up in. */
import {
  wholeParticle,
  withDerived,
  withMembers,
  type Complex,
  type Element,
  type Name,
  type Particle,
  type Schema,
} from '../schema/terms.ts';

/** One line of the source-to-target map, as the catalogue answers it. */
export interface MapLine {
  readonly xpath: string | null;
  readonly node_type: string | null;
  readonly table_name: string;
  readonly column_name: string | null;
  readonly source_type: string;
}

/** The lines of the map at one path. */
export interface Place {
  readonly xpath: string;
  readonly step: string;
  readonly parent: Place | null;
  readonly steps: Map<string, Place>;
  readonly lines: MapLine[];
  /** names the type, alike for types that derive from one another; without a schema, the element's name */
  family: string;
}

export class MapTree {
  readonly #top: Place = { xpath: '', step: '', parent: null, steps: new Map(), lines: [], family: '' };
  readonly #rootUri: string;
  /** the columns of a table are listed for one path alone */
  readonly leavesOut: boolean;
  readonly #prefixes: ReadonlyMap<string, string>;
  /** local names of no namespace that the root's namespace has, too */
  readonly #bare = new Set<string>();
  /** by family, tables and step, and by family and step alone */
  readonly #alike = new Map<string, Place>();

  /** `schema` null: the model was made of the documents alone. */
  constructor(
    lines: readonly MapLine[],
    namespaces: Readonly<Record<string, string>>,
    rootUri: string,
    schema: Schema | null,
  ) {
    this.#rootUri = rootUri;
    this.#prefixes = new Map(Object.entries(namespaces).map(([prefix, uri]) => [uri, prefix]));
    for (const line of lines) if (line.xpath !== null) this.#add(line, line.xpath.slice(1).split('/'));
    this.leavesOut = lines.length > 40_000;
    this.#nameFamilies(schema);
  }

  #add(line: MapLine, steps: readonly string[]): void {
    let place = this.#top;
    for (const step of steps) {
      if (step.startsWith('{}')) this.#bare.add(step.slice(2));
      const xpath = `${place.xpath}/${step}`;
      const next = place.steps.get(step) ?? {
        xpath,
        step,
        parent: place,
        steps: new Map(),
        lines: [],
        family: step,
      };
      place.steps.set(step, next);
      place = next;
    }
    place.lines.push(line);
  }

  /** Level by level, so that the shortest path stands for those that are alike. */
  #nameFamilies(schema: Schema | null): void {
    const families = new Families();
    const roots = schema?.elements ?? [];
    const open: (readonly [Place, readonly Element[]])[] = [[this.#top, roots]];
    for (const [place, elements] of open) {
      for (const child of place.steps.values()) {
        const declared = elements.find(({ name }) => this.#stepOf(name) === child.step);
        const type = declared?.type.kind === 'complex' ? declared.type : null;
        if (schema !== null)
          child.family = type === null ? `${place.family}/${child.step}` : families.nameOf(type);
        for (const key of keysOf(place, child.step)) if (!this.#alike.has(key)) this.#alike.set(key, child);
        open.push([child, type === null ? [] : families.elementsOf(type)]);
      }
    }
  }

  /** The lines below an element that stands below one of the same type. */
  *recursiveLines(): Generator<MapLine> {
    const open: (readonly [Place, families: ReadonlySet<string>, boolean])[] = [
      [this.#top, new Set(), false],
    ];
    for (const [place, above, isBelow] of open) {
      const isRecursive = isBelow || above.has(place.family);
      if (isRecursive) yield* place.lines;
      for (const child of place.steps.values())
        open.push([child, new Set([...above, place.family]), isRecursive]);
    }
  }

  root(name: Name): Place | undefined {
    return this.#top.steps.get(this.#stepOf(name));
  }

  child(place: Place, name: Name): Place | undefined {
    return place.steps.get(this.#stepOf(name));
  }

  attribute(place: Place, name: Name): Place | undefined {
    const { uri, local } = name;
    const prefixed = this.#find(place, `@${this.#prefixes.get(uri)}:${local}`);
    const isBare = uri === '' || (uri === this.#rootUri && prefixed === undefined);
    return isBare ? this.#find(place, `@${local}`) : prefixed;
  }

  /** Recursion is written out once: deeper places are looked up where the same type has the same tables. */
  childOfAlike(place: Place, name: Name): Place | undefined {
    return this.#find(place, this.#stepOf(name));
  }

  /** The lines of a place. A map of very many lines lists the columns of a table for the shortest path that leads there. */
  linesOf(place: Place): readonly MapLine[] {
    const { parent, step, lines } = place;
    const alike = parent === null ? undefined : this.#alike.get(keysOf(parent, step)[0]);
    if (!this.leavesOut || alike === undefined) return lines;
    const isListed = (line: MapLine): boolean => lines.some((one) => one.column_name === line.column_name);
    return [...lines, ...alike.lines.filter((line) => !isListed(line))];
  }

  #find(place: Place, step: string): Place | undefined {
    const own = place.steps.get(step);
    if (own !== undefined) return own;
    const [exact, less] = keysOf(place, step);
    return this.#alike.get(exact) ?? this.#alike.get(less);
  }

  /** A step has a prefix only if its namespace is not that of the root. */
  #stepOf({ uri, local }: Name): string {
    if (uri === '') return this.#bare.has(local) ? `{}${local}` : local;
    return uri === this.#rootUri ? local : `${this.#prefixes.get(uri)}:${local}`;
  }
}

/** Keys of places that are alike, the better one first: types of one family may have rows in different tables. */
function keysOf(parent: Place, step: string): [exact: string, less: string] {
  return [`${parent.family} ${tablesOf(parent)} ${step}`, `${parent.family} any ${step}`];
}

/** The tables that the place has rows in, or the way from the rows that it is folded into. */
function tablesOf(place: Place): string {
  const own = place.lines.filter(({ column_name: column }) => column === null);
  if (own.length > 0 || place.parent === null) return own.map(({ table_name: table }) => table).join();
  return `${tablesOf(place.parent)}/${place.step}`;
}

/** Types that derive from one another, and the elements that any of them may hold. */
class Families {
  readonly #names = new Map<Complex, string>();
  readonly #elements = new Map<Complex, readonly Element[]>();

  nameOf(type: Complex): string {
    const top = topOf(type);
    const name = this.#names.get(top) ?? `type ${this.#names.size}`;
    this.#names.set(top, name);
    return name;
  }

  elementsOf(type: Complex): readonly Element[] {
    const top = topOf(type);
    const known = this.#elements.get(top);
    if (known !== undefined) return known;
    const found = withDerived(top).flatMap((one) => elementsIn(wholeParticle(one)));
    this.#elements.set(top, found);
    return found;
  }
}

export function topOf(type: Complex): Complex {
  return type.base?.kind === 'complex' ? topOf(type.base) : type;
}

function elementsIn(particle: Particle | null): Element[] {
  if (particle === null || particle.kind === 'any') return [];
  if (particle.kind === 'element') return withMembers(particle.element);
  return particle.kind === 'group' ? elementsIn(particle.group.particle) : particle.parts.flatMap(elementsIn);
}
