/** The tables of a drawing: which rows share one, and which uses of the source share a column. */
import { useText } from '../../model/column-uses.ts';
import { widerColumnType, widerSourceType } from './column-types.ts';
import { holdsNames, type QName, type SourceModel } from '../../model/source-model.ts';
import type { ColumnRole, ValueConstraint, ColumnType } from '../../model/relational-model.ts';
import type { DeclaredPaths } from '../names/declared-paths.ts';
import { placeOf, TablePaths, type EarlierTables, type Together } from '../names/table-paths.ts';
import type { UsePrinter } from '../names/paths.ts';
import type { DrawingChoices } from './drawing-choices.ts';
import {
  newColumn,
  newNode,
  newTable,
  type ColumnDraft,
  type NewColumn,
  type TableDraft,
  type NodeDraft,
  type TableOrigin,
} from './model-builder.ts';
import { roleStep } from '../../model/keys.ts';
import type { ObservedChild } from './observed-children.ts';

/** Says whether several rows may occur at the place of an identity. */
interface Repeating {
  readonly repeats: boolean;
}

type SharedIdentity = TableIdentity & { readonly origin: { readonly declared: readonly string[] } };

/** The tables that can hold a row: the table of its place, or the table that all places share. One of the two is set. */
interface Rows {
  readonly own: TableIdentity | null;
  readonly shared: SharedIdentity | null;
}

interface DrawnIdentity extends TableIdentity {
  /** the path of the earlier table that the rows continue */
  readonly kept?: string;
  /** the table is the one that all places share */
  readonly isShared: boolean;
  /** rows of other places are in the same table */
  readonly hasOthers?: boolean;
}

export class DrawnTables {
  readonly all: TableDraft[] = [];
  readonly #model: SourceModel;
  readonly #choices: DrawingChoices;
  readonly #uses: UsePrinter;
  readonly #declared: DeclaredPaths;
  readonly #apart: ReadonlySet<string>;
  readonly #earlier: EarlierTables;
  readonly #tablePaths: TablePaths;
  readonly #typeNames: () => ReadonlyMap<number, string>;
  /** keyed by the identity that makes two rows belong to one table: their type if it is shared, or else their place */
  readonly #tableByIdentity = new Map<string, TableDraft>();
  /** keyed by the identity of a shared table: the path of the earlier table that it continues, besides EarlierTables.continued */
  readonly #continued = new Map<string, string>();

  /** `apart`: see DrawingOptions. */
  constructor(
    model: SourceModel,
    choices: DrawingChoices,
    uses: UsePrinter,
    declared: DeclaredPaths,
    namesOfTypes: () => ReadonlyMap<number, string>,
    apart: ReadonlySet<string>,
    earlier: EarlierTables,
  ) {
    this.#earlier = earlier;
    this.#tablePaths = new TablePaths(earlier);
    this.#apart = apart;
    this.#typeNames = namesOfTypes;
    this.#model = model;
    this.#choices = choices;
    this.#uses = uses;
    this.#declared = declared;
  }

  /** Returns the table for rows of `element`: the shared one of its type, or the one for this place (`at`). */
  tableFor(
    element: number,
    type: number,
    path: readonly string[],
    xpath: string,
    at: TableIdentity & Repeating,
    documentation?: string,
  ): TableDraft {
    const isShared = this.#choices.isShared(type);
    const ofType = (): readonly string[] => this.#declared.ofType(type);
    const own = isShared ? at : { ...at, origin: { ...at.origin, ofType } };
    const shared = isShared ? this.#unlessApart(this.#ofType(type), at) : null;
    return this.#namedTable({ own, shared }, element, type, path, xpath, documentation);
  }

  /** Returns the table for the rows of a type as a member of groups that are too wide for one table. */
  memberTable(element: number, type: number, path: readonly string[], xpath: string): TableDraft {
    return this.#namedTable({ own: null, shared: this.#ofType(type) }, element, type, path, xpath);
  }

  /** Returns whether an earlier version had a table for the rows of a child. */
  hadTable(row: RowContext, child: QName): boolean {
    const { usePath } = row.table;
    return this.#earlier.hadTable(`${usePath}${row.columnKey}/${this.#uses.element(child)}`, usePath);
  }

  /** Returns the location in which an earlier version had the members of a child's substitution group; null if it had no such group. */
  membersBefore(row: RowContext, head: QName): Together | null {
    const name = this.#uses.element(head);
    const place = `${row.table.usePath}${row.columnKey}/${name}`;
    const paths = [place, ...this.#earlier.ofPlace(place), `/(group ${name})`];
    const found = paths.map((path) => this.#earlier.members(path));
    return found.includes('together') ? 'together' : found.includes('apart') ? 'apart' : null;
  }

  /** Returns the location in which an earlier version had the types that xsi:type may name in rows of the table; null if it had none. */
  typesBefore({ usePath }: TableDraft): Together | null {
    return this.#earlier.types(usePath);
  }

  /** Returns whether the last version had a column of that role for an element in rows of the table. */
  hadColumn({ usePath }: TableDraft, role: ColumnRole, columnKey: string): boolean {
    return this.#earlier.hasColumn(usePath, useText(role, usePath + columnKey, null));
  }

  /** Returns whether an earlier version had a table for the text of an element. */
  hadTextTable(row: RowContext): boolean {
    const { usePath } = row.table;
    return this.#earlier.hadTextTable(usePath + row.columnKey, usePath);
  }

  #ofType(type: number): SharedIdentity {
    return { identity: `type/${type}`, origin: { declared: this.#declared.ofType(type) } };
  }

  /**
   * Returns the one table for all members of a substitution group; it is shared over the group's places as soon as one member's type is
   * shared.
   */
  groupTable(
    head: number,
    path: readonly string[],
    xpath: string,
    at: TableIdentity & Repeating,
  ): TableDraft {
    const { type, name } = this.#model.elements[head]!;
    const shared = {
      identity: `group/${head}`,
      origin: { declared: [`/(group ${this.#uses.element(name)})`] },
    };
    const isShared = this.#choices.isSharedGroup(head);
    return this.#namedTable(
      { own: at, shared: isShared ? this.#unlessApart(shared, at) : null },
      head,
      type,
      path,
      xpath,
    );
  }

  /** Returns the one table for the heads of a group that is too wide for one table, over all its places. */
  headTable(head: number, path: readonly string[], xpath: string, own: TableIdentity): TableDraft {
    const { type, name } = this.#model.elements[head]!;
    const shared = {
      identity: `head/${head}`,
      origin: { declared: [`/(head ${this.#uses.element(name)})`] },
    };
    return this.#namedTable({ own, shared }, head, type, path, xpath);
  }

  #unlessApart(shared: SharedIdentity, { repeats }: Repeating): SharedIdentity | null {
    const [path] = shared.origin.declared;
    return repeats && path !== undefined && this.#apart.has(path) ? null : shared;
  }

  /**
   * Returns the identity of a row's table. A place that had a table keeps it. Other places use the table of their type if it is shared;
   * that table continues one that an earlier version had for the type or for one of its places.
   */
  #identityFor({ own, shared }: Rows): DrawnIdentity {
    const place = own === null ? undefined : placeOf(own.origin);
    const continued = shared === null ? undefined : this.#earlier.continued.get(shared.identity);
    const tables = place === undefined ? [] : this.#earlier.ofPlace(place);
    const isKnown = continued === undefined || tables.length === 0 || tables.includes(continued);
    const kept =
      (isKnown ? continued : undefined) ??
      tables[0] ??
      (shared === null ? this.#ofEarlierType(own!) : this.#ofEarlierShared(shared));
    if (kept === undefined) return { ...(shared ?? own!), isShared: shared !== null };
    const isShared = shared !== null && (tables.length === 0 || kept === continued);
    const { origin } = isShared ? shared : own!;
    return { identity: `kept/${kept}`, origin, kept, isShared, hasOthers: !isShared && kept !== place };
  }

  /**
   * Returns the path of the table that all places of a type or group had, although a drawing without earlier tables has none for it. No
   * other type continues the table: a type that is redefined has the path of the original one.
   */
  #ofEarlierShared({ identity, origin }: SharedIdentity): string | undefined {
    const path = this.#continued.get(identity) ?? this.#earlier.ofType(origin.declared);
    if (path === undefined || this.#continued.has(identity)) return path;
    const others = [...this.#earlier.continued, ...this.#continued];
    if (others.some(([other, kept]) => kept === path && other !== identity && other.startsWith('type/')))
      return undefined;
    this.#continued.set(identity, path);
    return path;
  }

  /**
   * Returns the path of the table that the type had for all of its places, for a place that shares no table now; undefined: there was none.
   */
  #ofEarlierType(own: TableIdentity): string | undefined {
    const paths = own.origin.ofType?.();
    return paths === undefined ? undefined : this.#earlier.ofType(paths);
  }

  #namedTable(
    rows: Rows,
    element: number,
    type: number,
    path: readonly string[],
    xpath: string,
    said?: string,
  ): TableDraft {
    const { identity, origin, kept, isShared, hasOthers = false } = this.#identityFor(rows);
    const known = this.#tableByIdentity.get(identity);
    if (known !== undefined) {
      if (rows.own !== null && isShared) known.places.push(rows.own.origin);
      return known;
    }
    const { name, documentation } = this.#model.types[type]!;
    const declared = this.#model.elements[element]!;
    const isOfType = isShared && rows.shared!.identity.startsWith('type/');
    const shared = isOfType || hasOthers;
    const table = newTable({
      kind: 'element',
      path,
      xpath,
      origin,
      identity,
      usePath: this.#tablePaths.settle(origin, kept),
      ownName: isOfType && !this.#model.inferred ? this.#nameOfSharedType(type, declared.name) : null,
      shared,
      // the documentation of one place does not describe the others
      documentation:
        shared && name !== null ? documentation : (said ?? declared.documentation ?? documentation),
    });
    this.#addTable(table);
    this.#tableByIdentity.set(identity, table);
    if (rows.own !== null && isShared) table.places.push(rows.own.origin);
    return table;
  }

  /** Returns the identity of a child's table: the base type and its derivations refer to one table for the same child. */
  identityAt(row: RowContext, child: QName): TableIdentity {
    const steps = `${row.columnKey}/${this.#uses.element(child)}`;
    return { identity: `at/${row.table.index}/${steps}`, origin: { under: row.table, steps } };
  }

  /** Returns the table for text runs or wildcard content, whose rows are numbered together with the children of their element. */
  contentTable(row: RowContext, kind: 'text' | 'wildcard'): TableDraft {
    const word = kind === 'text' ? 'text' : 'any';
    const identity = `${row.columnKey}/${word}`;
    const known = row.table.nodeByKey.get(identity)?.table;
    if (known !== undefined) return known;
    const origin = { under: row.table, steps: `${row.columnKey}/(${word})` };
    const table = newTable({
      kind,
      path: [...row.path, word],
      xpath: row.xpath,
      origin,
      identity: `at/${row.table.index}/${origin.steps}`,
      usePath: this.#tablePaths.settle(origin),
      ownName: null,
      shared: false,
      documentation: undefined,
    });
    this.#addTable(table);
    this.parentKey(table, row.table, [], row.columnKey);
    this.column(table, '/position', { role: 'position', type: ordinal });
    this.column(table, '/content', {
      role: 'content',
      type: plainText,
      nameParts: ['content'],
      xpath: row.xpath,
    });
    const holder = newNode({
      name: { namespaceUri: '', localName: word },
      table,
      opensRow: false,
      element: -1,
      type: -1,
    });
    row.table.nodeByKey.set(identity, holder);
    return table;
  }

  /** `said`: the documentation of the element at this place, which the key of a shared table gets. */
  childKey(table: TableDraft, row: RowContext, child: QName, said?: string): ColumnDraft {
    const steps = `${row.columnKey}/${this.#uses.element(child)}`;
    const via = [...row.nameParts, child.localName];
    return this.parentKey(table, row.table, via, steps, table.shared ? said : undefined);
  }

  /** Returns the column of the current row that refers to its child row in `table`. */
  heldKey(table: TableDraft, row: RowContext, child: QName, said?: string): ColumnDraft {
    const steps = `${row.columnKey}/${this.#uses.element(child)}`;
    const column = this.column(row.table, `/child/${table.index}/${steps}`, {
      role: 'child_key',
      type: key,
      steps,
      child: table,
      nameParts: [...row.nameParts, child.localName],
      documentation: table.shared ? said : undefined,
    });
    table.heldBy.add(column);
    return column;
  }

  /** `steps`: distinguish this use from others of the same parent; `via` does so in the column's name. */
  parentKey(
    table: TableDraft,
    parent: TableDraft,
    via: readonly string[],
    steps: string,
    documentation?: string,
  ): ColumnDraft {
    return this.column(table, `/parent/${parent.index}/${steps}`, {
      role: 'parent_key',
      type: key,
      steps,
      parent,
      via,
      documentation,
    });
  }

  /**
   * Returns the column with the name of a row's element. If an earlier version had a column of roles there, that column goes on: a role
   * ends with the element's name.
   */
  elementColumn(table: TableDraft, xpath: string): ColumnDraft {
    const isOfRoles = this.#earlier.elementNames(table.usePath)?.isOfRoles === true;
    return this.column(table, '/element', elementNames(isOfRoles, isOfRoles ? table.xpath : xpath));
  }

  /** Returns the column that says that a row's own element was nil. */
  nilColumn(table: TableDraft): ColumnDraft {
    return this.column(table, '/nil', { role: 'nil', type: flag, nameParts: ['nil'], xpath: table.xpath });
  }

  /**
   * Returns the column for a value. Declarations of one name share it, except that values with prefixed names and text do not share one: a
   * prefix has a meaning only in such names.
   */
  valueColumn(row: RowContext, suffix: string, column: Omit<NewColumn, 'role'>): ColumnDraft {
    const identity = `${row.columnKey}${suffix}`;
    const known = row.table.columnByKey.get(identity);
    const isOfNames = holdsNames(column.sourceType);
    if (known === undefined || holdsNames(known.sourceType) === isOfNames)
      return this.column(row.table, identity, { role: 'value', ...column });
    const word = isOfNames ? 'name' : 'text';
    return this.column(row.table, `${identity}/(${word})`, {
      role: 'value',
      ...column,
      steps: `${column.steps ?? ''}/(${word})`,
      nameParts: [...(column.nameParts ?? []), word],
    });
  }

  /** Returns the column of this identity, which is made if it is new; declarations that share it widen its type. */
  column(table: TableDraft, identity: string, column: NewColumn): ColumnDraft {
    const known = table.columnByKey.get(identity);
    if (known !== undefined) {
      known.type = widerColumnType(known.type, column.type);
      known.sourceType = widerSourceType(known.sourceType, column.sourceType ?? null);
      known.keepsForm ||= column.keepsForm ?? false;
      const { writtenAs = null } = column;
      // a form that is right for the values of one declaration may be wrong for those of the other
      if (JSON.stringify(known.writtenAs) !== JSON.stringify(writtenAs)) known.keepsForm = true;
      known.writtenAs ??= writtenAs;
      known.hasOffsets ||= column.hasOffsets ?? false;
      if (!isSameConstraint(known.constraint, column.constraint ?? null)) known.constraint = null;
      if (JSON.stringify(known.members) !== JSON.stringify(column.members ?? [])) known.members = [];
      return known;
    }
    const draft = newColumn(column);
    table.columnByKey.set(identity, draft);
    table.columns.push(draft);
    return draft;
  }

  /** Marks a table that holds rows of root elements, possibly among others. */
  rootRows(table: TableDraft): void {
    table.holdsRoots = true;
  }

  /** Returns the name for the table of a shared type: if the type has the element's name, the table has it too. */
  #nameOfSharedType(type: number, { localName }: QName): string {
    const { name } = this.#model.types[type]!;
    if (name === null) return localName;
    return name.localName === localName ? localName : this.#typeNames().get(type)!;
  }

  #addTable(table: TableDraft): void {
    table.index = this.all.length;
    this.all.push(table);
    this.column(table, '/key', { role: 'row_key', type: key });
    this.column(table, '/document', { role: 'document', type: key });
  }
}

function isSameConstraint(a: ValueConstraint | null, b: ValueConstraint | null): boolean {
  return a?.kind === b?.kind && a?.value === b?.value;
}

// The position at which an element is drawn, and columns that do not come from the source.

export const key: ColumnType = { kind: 'bigint' };
export const ordinal: ColumnType = { kind: 'integer' };
export const flag: ColumnType = { kind: 'boolean' };
export const plainText: ColumnType = { kind: 'text' };

/** Returns the column with the names of the elements that rows of a table are. `isOfRoles`: see ElementNames. */
export function elementNames(isOfRoles: boolean, xpath: string): NewColumn {
  const named = { role: 'element_name', type: plainText, xpath } as const;
  return isOfRoles
    ? { ...named, nameParts: ['role'], steps: roleStep }
    : { ...named, nameParts: ['element'] };
}

/** The position at which an element is drawn: the row it belongs to, and how its columns are distinguished there. */
export interface RowContext {
  readonly table: TableDraft;
  /** printed steps (`src/engine/map/names/paths.ts`) below the row's element: identity of columns within the table */
  readonly columnKey: string;
  /** local names below the row's element: words of column names */
  readonly nameParts: readonly string[];
  readonly path: readonly string[];
  readonly xpath: string;
  /** the node that opens this row, if values here are guaranteed as far as the element itself is; null below optional folds */
  readonly guarantor: NodeDraft | null;
  /** the documentation of the element that is folded here; the documentation of a row's own element is in its table */
  readonly documentation?: string | undefined;
  /** the content that documents had in the element that is folded here; other content of it is not drawn */
  readonly met?: ObservedChild | null;
  /** elements, by index, that have rows of their own in one of the types that share this row, and so in all of these types */
  readonly apart?: ReadonlySet<number>;
}

/** The identity of a table: rows with the same identity belong to one table, within a drawing and across the versions of a model. */
export interface TableIdentity {
  readonly identity: string;
  readonly origin: TableOrigin;
}
