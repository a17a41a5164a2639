/**
 * Draws the relational model of a source model (docs/decisions/model/map-levels.md): it decides which elements get tables of their own,
 * which are folded into their parent's row, and when a type's rows share one table.
 *
 * Real sets taught three rules. Writing every path out doubles at each level of a type graph (FpML, NeTEx: more paths than atoms), so
 * beyond `maxExpandedPaths` every type used in several places shares a table at all levels. Folding is useful only while a person would
 * still read the row, so a child that would add more than `maxFoldedColumns` keeps its own table. Folding a type that has rows inside makes
 * their tables again at each of its places, so if types are reused, such a type shares its table too (camt.053: 34 tables at level 3
 * instead of 91).
 */
import type { DocumentStatistics } from '../../infer/statistics.ts';
import type { MapLevel } from '../../model/relational-model.ts';
import { clarkName, type QName, type SourceChild, type SourceModel } from '../../model/source-model.ts';
import { createDeclaredPaths } from '../names/declared-paths.ts';
import { createPathPrinter, type PathPrinter, createUsePrinter, type UsePrinter } from '../names/paths.ts';
import { rememberedTypeNames } from '../names/type-names.ts';
import { noEarlierTables, type EarlierTables } from '../names/table-paths.ts';
import type { DrawingContext } from './drawing-context.ts';
import { type RowContext, DrawnTables } from './drawn-tables.ts';
import { fillElement } from './element-content.ts';
import { drawRow } from './children.ts';
import type { ColumnTypeOptions, ValueTypes } from './column-types.ts';
import { DrawingChoices } from './drawing-choices.ts';
import type { Drawing, EdgeDraft, NodeDraft, TableDraft, UnfoldedChild } from './model-builder.ts';
import type { HeldKeys } from './earlier-folds.ts';
import { ObservedChildren } from './observed-children.ts';
import { withoutUnobservedPlaces } from './unobserved-places.ts';
import { analyseTypes } from './type-graph.ts';

/** The content that documents of a pruned model had. */
export interface ObservedContent {
  readonly statistics: DocumentStatistics;
  /** the model before it was pruned */
  readonly declared: SourceModel;
}

export interface DrawingOptions {
  readonly mapLevel: MapLevel;
  /** indexes of elements documents start with */
  readonly roots: readonly number[];
  readonly defaultTextLength?: number;
  /** the model before similar types became one; default: the model itself */
  readonly declaredIn?: SourceModel;
  /** the content of the documents; content that they never have at a place is not drawn there */
  readonly met?: ObservedContent | undefined;
  /** types of elements that are read as a value; default: none */
  readonly valueTypes?: Pick<ValueTypes, 'types' | 'keptOf'>;
  /** places that an earlier version folded; null: it folded only by type, and its rows are in the target. Default: none */
  readonly foldedPlaces?: ReadonlySet<string> | null;
  /** places whose tables would only link others: they are folded, too; default: none */
  readonly foldedTables?: ReadonlySet<string>;
  /** places that the last version read in the row above, whatever content their types have now; default: none */
  readonly keptFolds?: ReadonlySet<string>;
  /** shared tables, by the first of their paths, that are split so that each place with repeating rows has its own; default: none */
  readonly apart?: ReadonlySet<string>;
  /** names of types as declared; default: computed for this drawing */
  readonly typeNames?: () => ReadonlyMap<number, string>;
  /**
   * with `met`: if elements with mixed content had only text at a place, the text is a column there, even if their type has rows of text at
   * other places; default true
   */
  readonly textsByPlace?: boolean;
  /** earlier tables that are continued; default: none */
  readonly earlier?: EarlierTables;
  /** the keys that an earlier version chose; null: all rows have the keys of their parents. Default: no choice was made */
  readonly heldKeys?: HeldKeys | null;
}

/** Replaces a finished task so that its closure can be collected. */
function done(): void {}

export function drawModel(model: SourceModel, options: DrawingOptions): Drawing {
  return new ModelDrawing(model, options).draw();
}

class ModelDrawing implements DrawingContext {
  readonly model: SourceModel;
  readonly columnTypes: ColumnTypeOptions;
  readonly choices: DrawingChoices;
  readonly textsByPlace: boolean;
  readonly paths: PathPrinter;
  readonly uses: UsePrinter;
  readonly tables: DrawnTables;
  readonly nodes: NodeDraft[] = [];
  readonly #roots: readonly number[];
  readonly declared: SourceModel;
  readonly keptBeside: ReadonlyMap<number, number>;
  readonly #met: DocumentStatistics | undefined;
  readonly #recordsFolds: boolean;
  readonly #heldKeys: HeldKeys | null;
  readonly #placeOf: (type: number, child: QName) => string;
  readonly #unfolded: UnfoldedChild[] = [];
  readonly #pending: (() => void)[] = [];

  constructor(
    model: SourceModel,
    {
      mapLevel,
      roots,
      defaultTextLength,
      declaredIn,
      met,
      valueTypes,
      foldedPlaces = new Set(),
      foldedTables = new Set(),
      keptFolds = new Set(),
      heldKeys = () => null,
      earlier = noEarlierTables,
      apart = new Set(),
      typeNames: namesOfTypes,
      textsByPlace = true,
    }: DrawingOptions,
  ) {
    this.declared = met?.declared ?? model;
    this.#met = met?.statistics;
    this.textsByPlace = met !== undefined && textsByPlace;
    this.#heldKeys = heldKeys;
    this.#recordsFolds = foldedPlaces !== null && (met !== undefined || foldedPlaces.size > 0);
    this.model = model;
    this.columnTypes = { textLength: defaultTextLength, readsTexts: true };
    this.#roots = roots;
    this.keptBeside = met === undefined && valueTypes !== undefined ? valueTypes.keptOf : new Map();
    this.paths = createPathPrinter(model, roots);
    const [first] = roots;
    const root = first === undefined ? '' : model.elements[first]!.name.namespaceUri;
    this.uses = createUsePrinter({ root, prefixes: model.namespaces });
    const declared = createDeclaredPaths(declaredIn ?? model, model, this.uses);
    this.#placeOf = (type, child) => `${declared.ofType(type)[0] ?? ''}/${this.uses.element(child)}`;
    this.choices = new DrawingChoices(model, analyseTypes(model, roots), {
      mapLevel,
      roots,
      valueTypes: valueTypes?.types ?? new Set(),
      declared: this.declared,
      met: met === undefined || foldedPlaces === null ? null : new ObservedChildren(model, met.statistics),
      folded: {
        places: new Set([...(foldedPlaces ?? []), ...foldedTables, ...keptFolds]),
        kept: keptFolds,
        placeOf: (type, { element }) => this.#placeOf(type, model.elements[element]!.name),
      },
    });
    this.tables = new DrawnTables(
      model,
      this.choices,
      this.uses,
      declared,
      namesOfTypes ?? rememberedTypeNames(this.declared),
      apart,
      earlier,
    );
  }

  holdsKey(
    { table: parent, columnKey }: RowContext,
    { element, maxOccurs }: SourceChild,
    { table, name, isGroup }: Parameters<DrawingContext['holdsKey']>[2],
  ): boolean {
    if (this.#heldKeys === null || maxOccurs !== 1) return false;
    const decided = this.#heldKeys(parent.usePath, table.usePath, `${columnKey}/${this.uses.element(name)}`);
    return decided ?? this.choices.hasSeveralPlaces(element, isGroup);
  }

  recordUnfolded({ table, columnKey }: RowContext, type: number, { element }: SourceChild): void {
    const { name } = this.model.elements[element]!;
    const steps = `${columnKey}/${this.uses.element(name)}`;
    this.#unfolded.push({ table, steps, place: this.#placeOf(type, name) });
  }

  fill(node: NodeDraft, row: RowContext): void {
    fillElement(this, node, row);
  }

  later(work: () => void): void {
    this.#pending.push(work);
  }

  draw(): Drawing {
    const tables = this.#roots.map((root) => this.#rootTable(root));
    const uses = new Map<TableDraft, number>();
    for (const table of tables) uses.set(table, (uses.get(table) ?? 0) + 1);
    const roots = this.#roots.map((root, at) =>
      this.#drawRoot(root, tables[at]!, uses.get(tables[at]!)! > 1),
    );
    // drawing adds to the list during the loop
    for (let at = 0; at < this.#pending.length; at += 1) {
      this.#pending[at]!();
      this.#pending[at] = done;
    }
    const { sharedForSize } = this.choices;
    const drawing: Drawing = {
      tables: this.tables.all,
      nodes: this.nodes,
      roots,
      sharedForSize,
      prunedOf: null,
      uses: this.uses,
      foldedPlaces: this.#recordsFolds ? this.choices.foldedPlaces() : null,
      placeOf: (type, child) => (this.choices.holdsAnyEntity(type) ? null : this.#placeOf(type, child)),
      unfolded: this.#unfolded,
    };
    if (this.#met === undefined) return drawing;
    const prunedOf = withObservedAttributes(this.declared, this.model);
    return { ...withoutUnobservedPlaces(drawing, this.#met, this.paths), prunedOf };
  }

  #rootTable(element: number): TableDraft {
    const { name, type } = this.model.elements[element]!;
    const row = { declared: [`/${this.uses.element(name)}`] };
    return this.tables.tableFor(element, type, [name.localName], this.paths.root(element), {
      identity: `root/${element}`,
      origin: row,
      repeats: false,
    });
  }

  /** `shared`: other roots have their rows in the same table, so each row has the name of its root. */
  #drawRoot(element: number, table: TableDraft, shared: boolean): EdgeDraft {
    const { name } = this.model.elements[element]!;
    this.tables.rootRows(table);
    const node = drawRow(this, table, { element, substitution: false }, shared);
    return {
      name,
      node,
      parentKey: null,
      role: null,
      childKey: null,
      minOccurs: 1,
      maxOccurs: 1,
      substitution: false,
      head: null,
    };
  }
}

/** Adds the attributes that documents had and that the schema allows only by a wildcard. */
function withObservedAttributes(declared: SourceModel, met: SourceModel): SourceModel {
  return {
    ...declared,
    types: declared.types.map((type, at) => {
      if (type.anyAttribute === null) return type;
      const known = new Set(type.attributes.map(({ name }) => clarkName(name)));
      const more = (met.types[at]?.attributes ?? []).filter(({ name }) => !known.has(clarkName(name)));
      return more.length === 0 ? type : { ...type, attributes: [...type.attributes, ...more] };
    }),
  };
}
