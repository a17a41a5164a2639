/**
 * Draws the relational model of a source model (docs/decisions/model/map-levels.md): which elements get tables of their own, which are folded into
 * their parent's row, and where a type's rows share one table.
 *
 * What was learnt from real sets: writing every path out doubles at each level of a type graph (FpML, NeTEx: more paths than
 * atoms), so beyond `maxExpandedPaths` every type used in several places shares a table at all levels; folding is worth it
 * while a person would still read the row, so a child that would bring more than `maxFoldedColumns` keeps its own table; and
 * folding a type that has rows inside, at each of its places, makes those tables anew at each, so where types are reused, such a
 * type is (camt.053: 34 tables at level 3 instead of 91).
 */
import type { ColumnType, MapLevel } from '../../model/relational-model.ts';
import {
  clarkName,
  type QName,
  type SourceChild,
  type SourceModel,
  type ValueType,
} from '../../model/source-model.ts';
import { columnTypeOf, itemBaseOf, widerColumnType } from './column-types.ts';
import { DrawingChoices, isBare } from './drawing-choices.ts';
import {
  hangsFromHead,
  newColumn,
  newNode,
  newTable,
  type ColumnDraft,
  type EdgeDraft,
  type NewColumn,
  type NodeDraft,
  type TableDraft,
  type TableOrigin,
} from './model-builder.ts';
import { analyseTypes, derivedTypesOf, isTextAlone, variantsOf, type Variant } from './type-graph.ts';
import { createPathPrinter, type PathPrinter } from '../names/paths.ts';
import { createUsePrinter, type UsePrinter } from '../names/use-paths.ts';
import { createDeclaredPaths, type DeclaredPaths } from '../names/declared-paths.ts';

export interface DrawingOptions {
  readonly mapLevel: MapLevel;
  /** indexes of elements documents start with */
  readonly roots: readonly number[];
  readonly defaultTextLength?: number;
  /** the model as it was before alike types became one; default: the model itself */
  readonly declaredIn?: SourceModel;
}

export interface Drawing {
  readonly tables: TableDraft[];
  readonly nodes: NodeDraft[];
  readonly roots: EdgeDraft[];
  /** true: types share tables although the level alone would write their paths out */
  readonly sharedForSize: boolean;
}

const key: ColumnType = { kind: 'bigint' };
const flag: ColumnType = { kind: 'boolean' };
const plainText: ColumnType = { kind: 'text' };
const plainValue: ValueType = { variety: 'atomic', base: 'string', facets: {} };

/** Where an element is being drawn: the row it belongs to and how its columns are told apart there. */
interface Place {
  readonly table: TableDraft;
  /** printed steps (`src/engine/map/names/use-paths.ts`) below the row's element: identity of columns within the table */
  readonly columnKey: string;
  /** local names below the row's element: words of column names */
  readonly nameParts: readonly string[];
  readonly path: readonly string[];
  readonly xpath: string;
  /** the node whose row this is, when values here are guaranteed as far as the element itself is; null below optional folds */
  readonly guarantor: NodeDraft | null;
}

/** What makes rows belong to one table, within a drawing and over the versions of a model. */
interface TableIdentity {
  readonly identity: string;
  readonly place: TableOrigin;
}

/** In the place of work that is done, so that what it refers to can go. */
function done(): void {}

export function drawModel(model: SourceModel, options: DrawingOptions): Drawing {
  return new ModelDrawing(model, options).draw();
}

class ModelDrawing {
  readonly #model: SourceModel;
  readonly #options: DrawingOptions;
  readonly #choices: DrawingChoices;
  readonly #paths: PathPrinter;
  readonly #uses: UsePrinter;
  readonly #declared: DeclaredPaths;
  readonly #tables: TableDraft[] = [];
  readonly #nodes: NodeDraft[] = [];
  /** by what makes two rows belong to one table: their type where it is shared, else the place they stand at */
  readonly #tableByIdentity = new Map<string, TableDraft>();
  readonly #pending: (() => void)[] = [];

  constructor(model: SourceModel, options: DrawingOptions) {
    this.#model = model;
    this.#options = options;
    const graph = analyseTypes(model, options.roots);
    this.#choices = new DrawingChoices(model, graph, options.mapLevel, options.roots);
    this.#paths = createPathPrinter(model, options.roots);
    const [first] = options.roots;
    const root = first === undefined ? '' : model.elements[first]!.name.namespaceUri;
    this.#uses = createUsePrinter({ root, prefixes: model.namespaces });
    this.#declared = createDeclaredPaths(options.declaredIn ?? model, model, this.#uses);
  }

  draw(): Drawing {
    const tables = this.#options.roots.map((root) => this.#rootTable(root));
    const uses = new Map<TableDraft, number>();
    for (const table of tables) uses.set(table, (uses.get(table) ?? 0) + 1);
    const roots = this.#options.roots.map((root, at) =>
      this.#drawRoot(root, tables[at]!, uses.get(tables[at]!)! > 1),
    );
    // what is drawn adds to it
    for (let at = 0; at < this.#pending.length; at += 1) {
      this.#pending[at]!();
      this.#pending[at] = done;
    }
    return { tables: this.#tables, nodes: this.#nodes, roots, sharedForSize: this.#choices.sharedForSize };
  }

  #rootTable(element: number): TableDraft {
    const { name, type } = this.#model.elements[element]!;
    const place = { declared: [`/${this.#uses.element(name)}`] };
    return this.#tableFor(element, type, [name.localName], this.#paths.root(element), {
      identity: `root/${element}`,
      place,
    });
  }

  /** `shared`: other roots have their rows in the same table, so each says its name. */
  #drawRoot(element: number, table: TableDraft, shared: boolean): EdgeDraft {
    const { name } = this.#model.elements[element]!;
    this.#column(table, '/document', { role: 'document', type: key });
    const node = this.#drawRow(table, { element, substitution: false }, shared);
    return { name, node, parentKey: null, minOccurs: 1, maxOccurs: 1, substitution: false, head: null };
  }

  /** The table for rows of `element`: the shared one of its type, or the one for this place (`at`). */
  #tableFor(
    element: number,
    type: number,
    path: readonly string[],
    xpath: string,
    at: TableIdentity,
  ): TableDraft {
    return this.#namedTable(
      this.#choices.isShared(type) ? this.#ofType(type) : at,
      element,
      type,
      path,
      xpath,
    );
  }

  #ofType(type: number): TableIdentity {
    return { identity: `type/${type}`, place: { declared: this.#declared.ofType(type) } };
  }

  /** One table for all members of a substitution group; shared over its places as soon as one member's type is. */
  #groupTable(head: number, path: readonly string[], xpath: string, at: TableIdentity): TableDraft {
    const { type, name } = this.#model.elements[head]!;
    return this.#namedTable(
      this.#choices.isSharedGroup(head)
        ? { identity: `group/${head}`, place: { declared: [`/(group ${this.#uses.element(name)})`] } }
        : at,
      head,
      type,
      path,
      xpath,
    );
  }

  #namedTable(
    { identity, place }: TableIdentity,
    element: number,
    type: number,
    path: readonly string[],
    xpath: string,
  ): TableDraft {
    const known = this.#tableByIdentity.get(identity);
    if (known !== undefined) return known;
    const { name, documentation } = this.#model.types[type]!;
    const declared = this.#model.elements[element]!;
    const shared = identity.startsWith('type/');
    const table = newTable({
      kind: 'element',
      path,
      xpath,
      place,
      ownName: shared && !this.#model.inferred ? nameOfSharedType(name, declared.name) : null,
      shared,
      // what is said of one of its places is not said of the others
      documentation: shared && name !== null ? documentation : (declared.documentation ?? documentation),
    });
    this.#addTable(table);
    this.#column(table, '/key', { role: 'row_key', type: key });
    this.#tableByIdentity.set(identity, table);
    return table;
  }

  /** The base type and its derivations lead to one table for the same child. */
  #placeOf(place: Place, child: QName): TableIdentity {
    const steps = `${place.columnKey}/${this.#uses.element(child)}`;
    return { identity: `at/${place.table.index}/${steps}`, place: { under: place.table, steps } };
  }

  #addTable(table: TableDraft): void {
    table.index = this.#tables.length;
    this.#tables.push(table);
  }

  /** The node that opens a row of `table` for an element; drawn once per type and kind of element, so recursion closes. */
  #drawRow(table: TableDraft, variant: Variant, polymorphic: boolean): NodeDraft {
    const element = this.#model.elements[variant.element]!;
    const identity = `${element.type}|${element.nillable}|${polymorphic}`;
    const known = table.nodeByKey.get(identity);
    if (known !== undefined) return known;
    const node = newNode({
      name: element.name,
      table,
      opensRow: true,
      element: variant.element,
      type: element.type,
    });
    this.#nodes.push(node);
    table.nodeByKey.set(identity, node);
    const place: Place = {
      table,
      columnKey: '',
      nameParts: [],
      // what hangs from a table that several places share is named by that, not by the first of its places
      path: table.ownName === null ? table.path : [...table.path.slice(0, -1), table.ownName],
      xpath: table.xpath,
      guarantor: element.nillable ? null : node,
    };
    if (element.nillable) node.nil = this.#nilColumn(table);
    if (polymorphic) {
      node.elementName = this.#column(table, '/element', {
        role: 'element_name',
        type: plainText,
        nameParts: ['element'],
        xpath: table.xpath,
      });
      node.elementName.requiredBy.add(node);
    }
    this.#pending.push(() => this.#fill(node, place));
    return node;
  }

  /** Says of a row's own element that it was nil. */
  #nilColumn(table: TableDraft): ColumnDraft {
    return this.#column(table, '/nil', { role: 'nil', type: flag, nameParts: ['nil'], xpath: table.xpath });
  }

  /** Draws what an element of the node's type holds, and the types that xsi:type may put in its place. */
  #fill(node: NodeDraft, place: Place): void {
    const derived = derivedTypesOf(this.#model, node.type);
    if (derived.length === 0) {
      this.#fillType(node, place);
      return;
    }
    const union = this.#choices.unionColumns([node.type, ...derived]);
    const ownTables = union > this.#choices.maxUnionColumns() && node.opensRow && place.columnKey === '';
    // a folded element's row belongs to another node, which cannot answer for what the derivation leaves out; and where derived
    // types have tables of their own, their rows here are empty
    this.#fillType(node, node.opensRow && !ownTables ? place : { ...place, guarantor: null });
    node.typeName = this.#column(place.table, `${place.columnKey}/type`, {
      role: 'type_name',
      type: plainText,
      nameParts: [...place.nameParts, 'type'],
      xpath: place.xpath,
      steps: place.columnKey,
    });
    for (const type of derived) {
      const definition = this.#model.types[type]!;
      if (definition.name === null) continue;
      if (ownTables) {
        this.#drawSubtype(node, type, place);
        continue;
      }
      const alternative = newNode({
        name: node.name,
        table: place.table,
        opensRow: node.opensRow,
        element: node.element,
        type,
      });
      this.#nodes.push(alternative);
      Object.assign(alternative, {
        nil: node.nil,
        elementName: node.elementName,
        typeName: node.typeName,
        presence: node.presence,
        foldedPosition: node.foldedPosition,
      });
      if (node.opensRow) node.elementName?.requiredBy.add(alternative);
      const guarantor = node.opensRow && place.guarantor !== null ? alternative : null;
      this.#fillType(alternative, { ...place, guarantor });
      node.typeEdges.push({ name: definition.name, node: alternative, parentKey: null });
    }
  }

  /** A derivation too wide to share its head's table: a table of its own whose rows hang from the head's row, one to one. */
  #drawSubtype(head: NodeDraft, type: number, place: Place): void {
    const definition = this.#model.types[type]!;
    const path = [...place.path.slice(0, -1), definition.name!.localName];
    const steps = `${place.columnKey}/(as ${this.#uses.element(definition.name!)})`;
    const at = {
      identity: `at/${place.table.index}/${place.columnKey}#${type}`,
      place: { under: place.table, steps },
    };
    const table = this.#tableFor(head.element, type, path, place.xpath, at);
    const { nillable } = this.#model.elements[head.element]!;
    // elements declared to be of the type have nodes of their own, which lead on to what is derived from it
    const identity = `subtype|${type}|${nillable}`;
    let node = table.nodeByKey.get(identity);
    if (node === undefined) {
      node = newNode({ name: head.name, table, opensRow: true, element: head.element, type });
      if (nillable) node.nil = this.#nilColumn(table);
      this.#nodes.push(node);
      table.nodeByKey.set(identity, node);
      const target = node;
      this.#pending.push(() =>
        this.#fillType(target, {
          ...place,
          table,
          path,
          columnKey: '',
          nameParts: [],
          guarantor: nillable ? null : target,
        }),
      );
    }
    const parentKey = this.#parentKey(table, head.table, [hangsFromHead], '/(head)');
    head.typeEdges.push({ name: definition.name!, node, parentKey });
  }

  #fillType(node: NodeDraft, place: Place): void {
    const type = this.#model.types[node.type]!;
    node.content = type.content;
    for (const attribute of type.attributes) {
      const steps = `/${this.#uses.attribute(attribute.name)}`;
      const column = this.#valueColumn(place, steps, {
        steps: place.columnKey + steps,
        nameParts: [...place.nameParts, attribute.name.localName],
        xpath: this.#paths.attribute(place.xpath, attribute.name),
        type: columnTypeOf(attribute.type, this.#options.defaultTextLength),
        sourceType: itemBaseOf(attribute.type),
        keepsForm: attribute.type.guessed === true,
        documentation: attribute.documentation,
      });
      const isSure = attribute.required && attribute.type.mayBeEmpty !== true;
      if (isSure && place.guarantor !== null) column.requiredBy.add(place.guarantor);
      node.attributes.push({ name: attribute.name, column });
    }
    const value = isTextAlone(type) ? plainValue : type.content === 'simple' ? type.value : null;
    if (value !== null) {
      node.content = 'simple';
      node.text = this.#valueColumn(place, '/text()', {
        steps: place.columnKey,
        nameParts: place.nameParts,
        xpath: place.xpath,
        type: columnTypeOf(value, this.#options.defaultTextLength),
        sourceType: itemBaseOf(value),
        keepsForm: value.guessed === true,
        documentation: place.columnKey === '' ? undefined : this.#model.elements[node.element]!.documentation,
      });
      // an empty element with a default is valid, and its column stays empty where the type has no empty value
      const { default: constant, fixed = constant } = this.#model.elements[node.element]!;
      const mayBeEmpty = value.mayBeEmpty ?? (fixed !== undefined && node.text.type.kind !== 'text');
      if (place.guarantor !== null && !mayBeEmpty) node.text.requiredBy.add(place.guarantor);
    }
    if (type.anyAttribute !== null) {
      node.anyAttribute = this.#column(place.table, `${place.columnKey}/@*`, {
        role: 'content',
        type: plainText,
        nameParts: [...place.nameParts, 'any_attributes'],
        steps: `${place.columnKey}/@*`,
      });
    }
    if (type.content === 'mixed' && value === null) node.textTable = this.#contentTable(place, 'text');
    if (type.anyElement !== null) node.wildcardTable = this.#contentTable(place, 'wildcard');
    for (const child of type.children) this.#drawChild(node, place, child);
  }

  /** Rows for text runs or wildcard content, numbered with the children of the element they stand in. */
  #contentTable(place: Place, kind: 'text' | 'wildcard'): TableDraft {
    const word = kind === 'text' ? 'text' : 'any';
    const identity = `${place.columnKey}/${word}`;
    const known = place.table.nodeByKey.get(identity)?.table;
    if (known !== undefined) return known;
    const table = newTable({
      kind,
      path: [...place.path, word],
      xpath: place.xpath,
      place: { under: place.table, steps: `${place.columnKey}/(${word})` },
      ownName: null,
      shared: false,
      documentation: undefined,
    });
    this.#addTable(table);
    this.#column(table, '/key', { role: 'row_key', type: key });
    this.#parentKey(table, place.table, [], place.columnKey);
    this.#column(table, '/position', { role: 'position', type: { kind: 'integer' } });
    this.#column(table, '/content', {
      role: 'content',
      type: plainText,
      nameParts: ['content'],
      xpath: place.xpath,
    });
    const holder = newNode({
      name: { namespaceUri: '', localName: word },
      table,
      opensRow: false,
      element: -1,
      type: -1,
    });
    place.table.nodeByKey.set(identity, holder);
    return table;
  }

  #drawChild(parent: NodeDraft, place: Place, child: SourceChild): void {
    const declared = this.#model.elements[child.element]!;
    const variants = variantsOf(this.#model, child.element);
    const polymorphic = variants.length > 1 || (variants.length === 1 && variants[0]!.substitution);
    if (this.#choices.isFolded(parent.type, child)) {
      this.#foldChild(parent, place, child, variants, polymorphic);
      return;
    }
    const path = [...place.path, declared.name.localName];
    const types = variants.map((variant) => this.#model.elements[variant.element]!.type);
    const together = polymorphic && this.#choices.unionColumns(types) <= this.#choices.maxUnionColumns();
    if (together) {
      const xpath = this.#paths.child(place.xpath, declared.name);
      const table = this.#groupTable(child.element, path, xpath, this.#placeOf(place, declared.name));
      const parentKey = this.#childKey(table, place, declared.name);
      this.#column(table, '/position', { role: 'position', type: { kind: 'integer' } });
      for (const variant of variants) {
        this.#addEdge(parent, child, variant, this.#drawRow(table, variant, true), parentKey);
      }
      return;
    }
    if (polymorphic) {
      this.#drawGroup(parent, place, child, variants, path);
      return;
    }
    for (const variant of variants) {
      const element = this.#model.elements[variant.element]!;
      const ownPath = [...place.path, element.name.localName];
      const xpath = this.#paths.child(place.xpath, element.name);
      const at = this.#placeOf(place, element.name);
      const table = this.#tableFor(variant.element, element.type, ownPath, xpath, at);
      const parentKey = this.#childKey(table, place, element.name);
      this.#column(table, '/position', { role: 'position', type: { kind: 'integer' } });
      this.#addEdge(parent, child, variant, this.#drawRow(table, variant, false), parentKey);
    }
  }

  /** A substitution group too wide for one table: rows of its head say where and which, each member's own row hangs from one. */
  #drawGroup(
    parent: NodeDraft,
    place: Place,
    child: SourceChild,
    variants: readonly Variant[],
    path: readonly string[],
  ): void {
    const declared = this.#model.elements[child.element]!;
    const xpath = this.#paths.child(place.xpath, declared.name);
    const at = {
      identity: `head/${child.element}`,
      place: { declared: [`/(head ${this.#uses.element(declared.name)})`] },
    };
    const table = this.#namedTable(at, child.element, declared.type, path, xpath);
    const parentKey = this.#childKey(table, place, declared.name);
    this.#column(table, '/position', { role: 'position', type: { kind: 'integer' } });
    let headNode = table.nodeByKey.get('head');
    if (headNode === undefined) {
      headNode = newNode({
        name: declared.name,
        table,
        opensRow: true,
        element: child.element,
        type: declared.type,
      });
      this.#nodes.push(headNode);
      table.nodeByKey.set('head', headNode);
      headNode.elementName = this.#column(table, '/element', {
        role: 'element_name',
        type: plainText,
        nameParts: ['element'],
        xpath,
      });
      headNode.elementName.requiredBy.add(headNode);
    }
    const head = { node: headNode, parentKey };
    for (const variant of variants) {
      const element = this.#model.elements[variant.element]!;
      const memberPath = [...place.path, element.name.localName];
      const own = this.#namedTable(
        this.#ofType(element.type),
        variant.element,
        element.type,
        memberPath,
        this.#paths.child(place.xpath, element.name),
      );
      const hangsFrom = this.#parentKey(own, table, [hangsFromHead], '/(head)');
      this.#addEdge(parent, child, variant, this.#drawRow(own, variant, false), hangsFrom, head);
    }
  }

  #addEdge(
    parent: NodeDraft,
    child: SourceChild,
    variant: Variant,
    node: NodeDraft,
    parentKey: ColumnDraft | null,
    head: EdgeDraft['head'] = null,
  ): void {
    const { name } = this.#model.elements[variant.element]!;
    // two groups may share a member; the content model lets only one of them take it
    const clark = clarkName(name);
    if (parent.edgeNames.has(clark)) return;
    parent.edgeNames.add(clark);
    parent.edges.push({
      name,
      node,
      parentKey,
      minOccurs: variant.substitution || node.elementName !== null ? 0 : child.minOccurs,
      maxOccurs: child.maxOccurs,
      substitution: variant.substitution,
      head,
    });
  }

  /** A child that occurs at most once: its values become columns of the row it stands in. */
  #foldChild(
    parent: NodeDraft,
    place: Place,
    child: SourceChild,
    variants: readonly Variant[],
    polymorphic: boolean,
  ): void {
    const declared = this.#model.elements[child.element]!;
    const columnKey = `${place.columnKey}/${this.#uses.element(declared.name)}`;
    const nameParts = [...place.nameParts, declared.name.localName];
    for (const variant of variants) {
      const element = this.#model.elements[variant.element]!;
      const type = this.#model.types[element.type]!;
      const node = newNode({
        name: element.name,
        table: place.table,
        opensRow: false,
        element: variant.element,
        type: element.type,
      });
      this.#nodes.push(node);
      const xpath = this.#paths.child(place.xpath, element.name);
      const sure = child.minOccurs >= 1 && !element.nillable && !polymorphic;
      const inner: Place = {
        table: place.table,
        columnKey,
        nameParts,
        path: [...place.path, element.name.localName],
        xpath,
        guarantor: sure ? place.guarantor : null,
      };
      const structure = (word: string, role: ColumnDraft['role'], columnType: ColumnType): ColumnDraft =>
        this.#column(place.table, `${columnKey}/${word}`, {
          role,
          type: columnType,
          nameParts: [...nameParts, word],
          xpath: role === 'folded_position' ? null : xpath,
          steps: columnKey,
        });
      if (element.nillable) node.nil = structure('nil', 'nil', flag);
      if (polymorphic) node.elementName = structure('element', 'element_name', plainText);
      if (!child.orderImplied)
        node.foldedPosition = structure('position', 'folded_position', { kind: 'integer' });
      if (!polymorphic && isBare(type)) {
        node.presence = this.#column(place.table, `${columnKey}/present`, {
          role: 'presence',
          type: flag,
          nameParts,
          xpath,
          steps: columnKey,
        });
      } else if (!polymorphic && type.complex && !sure && !this.#choices.alwaysShows(element.type)) {
        node.presence = structure('present', 'presence', flag);
      }
      this.#fill(node, inner);
      this.#addEdge(parent, child, variant, node, null);
    }
  }

  #valueColumn(place: Place, suffix: string, column: Omit<NewColumn, 'role'>): ColumnDraft {
    return this.#column(place.table, `${place.columnKey}${suffix}`, { role: 'value', ...column });
  }

  /** The column of this identity, made when new; declarations that share it widen its type. */
  #column(table: TableDraft, identity: string, column: NewColumn): ColumnDraft {
    const known = table.columnByKey.get(identity);
    if (known !== undefined) {
      known.type = widerColumnType(known.type, column.type);
      return known;
    }
    const draft = newColumn(column);
    table.columnByKey.set(identity, draft);
    table.columns.push(draft);
    return draft;
  }

  #childKey(table: TableDraft, place: Place, child: QName): ColumnDraft {
    const steps = `${place.columnKey}/${this.#uses.element(child)}`;
    return this.#parentKey(table, place.table, [...place.nameParts, child.localName], steps);
  }

  /** `steps`: tell this use from others of the same parent; `via` does so in the column's name. */
  #parentKey(table: TableDraft, parent: TableDraft, via: readonly string[], steps: string): ColumnDraft {
    return this.#column(table, `/parent/${parent.index}/${steps}`, {
      role: 'parent_key',
      type: key,
      steps,
      parent,
      via,
    });
  }
}

/** `AddressType` -> `Address`: the word "type" says nothing in the name of a table. */
function nameOfSharedType(type: QName | null, element: QName): string {
  const local = (type ?? element).localName;
  // a word of its own (prototype, subtype), or just what the element is called
  if (local === element.localName || /^(?:arche|data|proto|stereo|sub|super)type$/i.test(local)) return local;
  const short = local.replace(/[-_.]?(?:[Cc]omplex)?[Tt]ype$/, '');
  return short === '' ? local : short;
}
