/** Choices of the drawing that depend on sizes: which children are folded, which types share a table. */
import type { MapLevel } from '../../model/relational-model.ts';
import { clarkName, type SourceChild, type SourceModel } from '../../model/source-model.ts';
import { EarlierFolds, type FoldedPlaces } from './earlier-folds.ts';
import type { ChildKinds, ObservedChild, ObservedChildren } from './observed-children.ts';
import {
  countPlaces,
  derivedTypesOf,
  isBare,
  isSimpleChild,
  isTextAlone,
  noPlaces,
  type Places,
  type TypeGraph,
} from './type-graph.ts';

export class DrawingChoices {
  /** types share tables although the level by itself would write their paths out */
  readonly sharedForSize: boolean;
  readonly #model: SourceModel;
  readonly #graph: TypeGraph;
  readonly #mapLevel: MapLevel;
  readonly #roots: readonly number[];
  /** types of roots that may share a table */
  readonly #rootTypes: ReadonlySet<number>;
  readonly #elevate: boolean;
  readonly #shared: Uint8Array;
  /** the number of places of each type and of each element; used if types share tables */
  readonly #places: Places;
  /** types of elements that are read as values: folded at most once, or else rows of their own place */
  readonly #valueTypes: ReadonlySet<number>;
  readonly #declared: SourceModel;
  readonly #met: ObservedChildren | null;
  readonly #earlier: EarlierFolds;
  /** By type: 1 if it is at some place the type of a root or of a repeating element, so that it has rows. */
  readonly #repeats: Uint8Array;

  constructor(
    model: SourceModel,
    graph: TypeGraph,
    {
      mapLevel,
      roots,
      valueTypes,
      declared,
      met,
      folded,
    }: {
      readonly mapLevel: MapLevel;
      readonly roots: readonly number[];
      readonly valueTypes: ReadonlySet<number>;
      /** the model before it was pruned */
      readonly declared: SourceModel;
      /** the content that documents had; null: everything in the model is drawn */
      readonly met: ObservedChildren | null;
      readonly folded: FoldedPlaces;
    },
  ) {
    this.#model = model;
    this.#valueTypes = valueTypes;
    this.#declared = declared;
    this.#met = met;
    this.#earlier = new EarlierFolds(model, graph, folded);
    this.#graph = graph;
    this.#mapLevel = mapLevel;
    this.#roots = roots;
    this.#rootTypes = new Set(roots.map((root) => model.elements[root]!.type));
    this.#elevate = mapLevel === 1 || mapLevel === 3;
    this.#widths = new Float64Array(model.types.length).fill(-1);
    this.#makesRows = new Uint8Array(model.types.length);
    this.sharedForSize = graph.expandedPaths > drawingLimits.maxExpandedPaths;
    this.#repeats = this.#findRepeating();
    // children before parents, so that the widths that each parent needs are known
    for (const type of graph.reachable.toReversed()) this.#settleFolds(type);
    this.#places = this.#mayShare()
      ? countPlaces(model, graph, roots, (type, child) => this.isFolded(type, child) || this.#isWrapper(type))
      : noPlaces;
    this.#shared = this.#findSharedTypes();
  }

  /** Returns whether a group's members share one table over all its places: as soon as one member's type is shared. */
  isSharedGroup(head: number): boolean {
    return this.#graph.childTypes(head).some((type) => this.#shared[type] === 1);
  }

  /** Returns whether rows of the element's type, or of the group that it is the head of, are in one table for several places. */
  hasSeveralPlaces(element: number, isGroup: boolean): boolean {
    if (isGroup) return this.isSharedGroup(element) && (this.#places.elements[element] ?? 0) > 1;
    const { type } = this.#model.elements[element]!;
    return this.isShared(type) && (this.#places.types[type] ?? 0) > 1;
  }

  /** Returns the types whose rows share one table: recursive ones always, others by level, size and number of places. */
  #findSharedTypes(): Uint8Array {
    const { types } = this.#model;
    const shared = Uint8Array.from(this.#graph.recursive);
    for (const type of this.#valueTypes) shared[type] = 0;
    if (!this.#mayShare()) return shared;
    const uses = this.#places.types;
    for (const type of this.#graph.reachable) {
      const definition = types[type]!;
      if (!definition.complex || this.#valueTypes.has(type) || uses[type]! < 2) continue;
      // a parent key for each place would be more columns than any database has; a type without children can as well have separate tables
      if (uses[type]! > drawingLimits.maxPlacesOfSharedLeaf && definition.children.length === 0) continue;
      shared[type] = 1;
    }
    return shared;
  }

  /**
   * Returns whether a type that occurs at several places may have one table for all of them. That includes a type without a name, if an
   * element of it is referred to, or is inside a group or type that is used again.
   */
  #mayShare(): boolean {
    return this.sharedForSize || this.#mapLevel >= 2;
  }

  /** Returns whether rows of this declared type share a table: the type, or a derivation that may substitute it, is shared. */
  isShared(type: number): boolean {
    if (!this.#model.types[type]!.complex) return false;
    return (
      this.#shared[type] === 1 || derivedTypesOf(this.#model, type).some((other) => this.#shared[other] === 1)
    );
  }

  /** Returns whether an element of `type` has this child at most once, and narrow enough to be read in the row of its parent. */
  isFolded(type: number, child: SourceChild): boolean {
    if (child.maxOccurs === null || child.maxOccurs > 1) return false;
    if (this.#isSimple(child.element)) return true;
    if (this.#earlier.has(type, child, this.#graph.childTypes(child.element))) return true;
    if (this.holdsAnyEntity(type)) return false;
    if (this.#widths[type] === -1) this.#settleFolds(type);
    return this.#mayFold(type, child) && this.#columnsAt(type, child) <= this.#widestFold.get(type)!;
  }

  /** Returns the places of complex elements that are folded, for use by a later version of the model. */
  foldedPlaces(): string[] {
    const all = this.#graph.reachable.flatMap((type) =>
      this.#model.types[type]!.children.map((child) => [type, child] as const),
    );
    return this.#earlier.with(
      all.filter(([type, child]) => !this.#isSimple(child.element) && this.isFolded(type, child)),
    );
  }

  /** Returns the content that documents had in the child, or null if it is not known or if the child needs rows of its own. */
  observedContentOf(type: number, child: SourceChild): ObservedChild | null {
    const met = this.#met?.at(type, child, this.#childKinds) ?? null;
    return met === null || met.makesRows ? null : met;
  }

  readonly #childKinds: ChildKinds = {
    isValue: (element) => this.#isSimple(element),
    isFolded: (type, child) => this.isFolded(type, child),
  };

  /**
   * Decides whether a child may be folded. Folding a type writes it out at each of its places, with a table or a parent key for each part
   * that repeats inside. That multiplies (OVAL: 1,012 tables become 28,000). So if types are reused, a type that is used again and has rows
   * of its own gets a table that its places share. Wrappers are the exception: their table would say nothing.
   */
  #mayFold(type: number, child: SourceChild): boolean {
    if (!this.#elevate) return false;
    return this.observedContentOf(type, child) !== null || this.#mayFoldType(child.element);
  }

  #mayFoldType(element: number): boolean {
    return this.#graph
      .childTypes(element)
      .every(
        (inner) =>
          this.#makesRows[inner] === 0 ||
          this.#placesOf(inner) <= 1 ||
          !this.#mayShare() ||
          this.#isWrapper(inner),
      );
  }

  /** Counts the places of a type as the schema declares them, not as often as they would be written out. */
  #placesOf(type: number): number {
    return this.#graph.uses[type]! + (this.#rootTypes.has(type) ? 1 : 0);
  }

  /**
   * Tests for a wrapper, such as `<References>` around each `<Reference>`: it has no content of its own, and its children have shared
   * tables. If it is folded, those tables get a parent key for each of its places, and no table multiplies.
   */
  #isWrapper(type: number): boolean {
    return cached(this.#wrappers, type, () => {
      const { attributes, content, children, anyElement, anyAttribute, derived } = this.#model.types[type]!;
      return (
        this.#repeats[type] === 0 &&
        this.#graph.recursive[type] === 0 &&
        attributes.length === 0 &&
        anyAttribute === null &&
        anyElement === null &&
        content === 'elements' &&
        derived.length === 0 &&
        children.length * this.#graph.uses[type]! <= drawingLimits.maxKeysForWrapper &&
        children.every((child) => this.#repeatsShared(child))
      );
    });
  }

  /**
   * Tests for a choice of many elements that could each be a document (the resources that an entry of FHIR's Bundle may hold). The chosen
   * element has rows of its own, in the table that it has as a document. If they were folded, rows would be as wide as all of them
   * together.
   */
  holdsAnyEntity(type: number): boolean {
    return cached(this.#anyEntity, type, () => {
      const { types, elements } = this.#declared;
      const { attributes, children, neverEmpty } = types[type]!;
      return (
        neverEmpty === true &&
        attributes.length === 0 &&
        children.length >= drawingLimits.fewestEntities &&
        children.every(({ element, minOccurs, maxOccurs }) => {
          const { global, type: chosen } = elements[element]!;
          return global && minOccurs === 0 && maxOccurs === 1 && types[chosen]!.complex;
        })
      );
    });
  }

  readonly #anyEntity = new Map<number, boolean>();
  readonly #wrappers = new Map<number, boolean>();

  #repeatsShared({ element, maxOccurs }: SourceChild): boolean {
    return (
      (maxOccurs === null || maxOccurs > 1) &&
      this.#mayShare() &&
      this.#graph.childTypes(element).every((type) => this.#model.types[type]!.complex)
    );
  }

  #findRepeating(): Uint8Array {
    const { types, elements } = this.#model;
    const repeating = new Uint8Array(types.length);
    for (const root of this.#roots) repeating[elements[root]!.type] = 1;
    for (const type of this.#graph.reachable) {
      for (const { element, maxOccurs } of types[type]!.children) {
        if (maxOccurs !== null && maxOccurs <= 1) continue;
        for (const childType of this.#graph.childTypes(element)) repeating[childType] = 1;
      }
    }
    return repeating;
  }

  /** By type: 1 if its content, folded in or not, needs rows in addition to the row that it is folded into. */
  readonly #makesRows: Uint8Array;
  /** By type: the number of columns of a row that holds an element of it and everything that is folded into it; -1: not computed yet. */
  readonly #widths: Float64Array;
  /** Keyed by type: the most columns that a child may add if it is folded. */
  readonly #widestFold = new Map<number, number>();

  /**
   * Decides which children are folded. Children are folded as long as the row stays readable. If all of them together would be too many
   * columns, the widest keep their tables, and with them all that are as wide: ten agents of the same type are ten groups of columns or ten
   * rows, never some of each.
   */
  #settleFolds(type: number): void {
    const definition = this.#model.types[type]!;
    const { attributes, content, children, anyAttribute } = definition;
    const hasText = content === 'simple' || isTextAlone(definition);
    let columns = attributes.length + (hasText ? 1 : 0) + (anyAttribute === null ? 0 : 1);
    const widths: number[] = [];
    for (const child of this.holdsAnyEntity(type) ? [] : children) {
      if (child.maxOccurs === null || child.maxOccurs > 1) continue;
      if (this.#isSimple(child.element)) columns += 1;
      else if (this.#mayFold(type, child)) widths.push(this.#columnsAt(type, child));
    }
    let widest = this.#maxFoldedColumns();
    const total = (): number => widths.reduce((sum, width) => sum + (width <= widest ? width : 0), columns);
    while (widths.some((width) => width <= widest) && total() > drawingLimits.maxRowColumns)
      widest = Math.max(...widths.filter((width) => width <= widest)) - 1;
    this.#widestFold.set(type, widest);
    this.#widths[type] = this.#graph.recursive[type] === 1 ? Infinity : total();
    this.#makesRows[type] = this.#holdsRows(type) ? 1 : 0;
  }

  #holdsRows(type: number): boolean {
    const definition = this.#model.types[type]!;
    const { content, anyElement, children } = definition;
    if ((content === 'mixed' && !isTextAlone(definition)) || anyElement !== null) return true;
    return children.some(
      (child) =>
        !this.isFolded(type, child) ||
        (this.observedContentOf(type, child) === null &&
          this.#graph
            .childTypes(child.element)
            .some((inner) => this.#makesRows[inner] === 1 && !this.#valueTypes.has(inner))),
    );
  }

  readonly #simple = new Map<number, boolean>();

  #isSimple(element: number): boolean {
    return cached(this.#simple, element, () => isSimpleChild(this.#model, element, this.#valueTypes));
  }

  #columnsAt(type: number, child: SourceChild): number {
    return this.observedContentOf(type, child)?.columns ?? this.#columnsOfChild(child.element);
  }

  readonly #childColumns = new Map<number, number>();

  /** Counts the columns that a child adds to its parent's row: those of all elements and types that may substitute it. */
  #columnsOfChild(element: number): number {
    return cached(this.#childColumns, element, () => {
      let columns = 1;
      for (const type of this.#graph.childTypes(element)) {
        const width = this.#graph.recursive[type] === 1 ? Infinity : this.#widths[type]!;
        columns += Math.max(1, width);
      }
      return columns;
    });
  }

  #maxFoldedColumns(): number {
    return this.sharedForSize ? drawingLimits.maxFoldedColumnsOfLargeSets : drawingLimits.maxFoldedColumns;
  }

  maxUnionColumns(): number {
    return this.sharedForSize ? drawingLimits.maxUnionColumnsOfLargeSets : drawingLimits.maxUnionColumns;
  }

  /** Counts the columns that rows of these types have together: a column that several of them have under one name counts once. */
  unionColumns(types: readonly number[]): number {
    return cached(this.#unions, types.join(' '), () => this.#findUnionColumns(types));
  }

  readonly #unions = new Map<string, number>();

  #findUnionColumns(types: readonly number[]): number {
    const widths = new Map<string, number>();
    const add = (name: string, columns: number): void => {
      widths.set(name, Math.max(widths.get(name) ?? 0, columns));
    };
    for (const type of types) {
      const { attributes, children, content } = this.#model.types[type]!;
      if (content === 'simple') add('text()', 1);
      for (const { name } of attributes) add(`@${clarkName(name)}`, 1);
      for (const child of children) {
        if (!this.isFolded(type, child)) continue;
        add(clarkName(this.#model.elements[child.element]!.name), this.#columnsAt(type, child));
      }
    }
    return widths.values().reduce((sum, columns) => sum + columns, 1);
  }

  /**
   * Returns whether a valid element of this type always has a value, or a row of a descendant, so that no column need say that it is there.
   * (An element that violates its XSD by being empty is recorded separately.)
   */
  alwaysShows(type: number): boolean {
    return cached(this.#showing, type, () => {
      const definition = this.#model.types[type]!;
      const { content, attributes, children, neverEmpty } = definition;
      if (content === 'simple' || isTextAlone(definition) || this.#valueTypes.has(type)) return true;
      if (attributes.some((attribute) => attribute.required)) return true;
      if (children.some((child) => child.minOccurs >= 1 && this.#childShows(type, child))) return true;
      return neverEmpty === true && children.every((child) => this.#childShows(type, child));
    });
  }

  readonly #showing = new Map<number, boolean>();

  /** Returns whether an existing child always has a row or fills a column, even if only the column that says that it exists. */
  #childShows(type: number, child: SourceChild): boolean {
    const element = this.#model.elements[child.element]!;
    const mayBeOther = element.abstract || element.substitutes.length > 0;
    const saysWhetherItIsThere = child.minOccurs < 1 || element.nillable || mayBeOther;
    return (
      saysWhetherItIsThere ||
      !this.isFolded(type, child) ||
      !this.#model.types[element.type]!.complex ||
      isBare(this.#model.types[element.type]!) ||
      this.alwaysShows(element.type)
    );
  }
}

function cached<Key, Value>(known: Map<Key, Value>, key: Key, find: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = find()));
  return value;
}

/** Sizes up to which a person would still read a row, and a database accept a table. */
export const drawingLimits = {
  /** paths written out before types used in several places start to share tables at every level */
  maxExpandedPaths: 5_000,
  /** the most columns that one child may add to its parent's row */
  maxFoldedColumns: 100,
  /** the same limit if types share tables for size, because a folded type is written out at every place */
  maxFoldedColumnsOfLargeSets: 24,
  /** the most columns of one row, including folded content: less than one table holds (src/engine/map/tables/wide-rows.ts) */
  maxRowColumns: 240,
  /** the most columns that substitution members or derived types may have together to share their head's table */
  maxUnionColumns: 200,
  maxUnionColumnsOfLargeSets: 48,
  /** the most places of a type without child elements that share one table */
  maxPlacesOfSharedLeaf: 1_500,
  /** number of branches of a choice from which each gets a table of its own, if each could be a document */
  fewestEntities: 8,
  /** the most parent keys that the tables below a wrapper may get in its place, all together */
  maxKeysForWrapper: 32,
} as const;
