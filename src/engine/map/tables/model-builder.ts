/** Tables, columns and plan nodes while they are being drawn: objects, so that order and names can be settled at the end. */
import type {
  Column,
  ColumnRole,
  ColumnType,
  ListNames,
  Table,
  ValueConstraint,
  WrittenForm,
} from '../../model/relational-model.ts';
import type { BuiltInType, QName, SourceModel, ValueType } from '../../model/source-model.ts';
import type { UsePrinter } from '../names/paths.ts';

/** `via` of a parent key that refers to the head of a substitution group or of a family of types, not to a parent element */
export const hangsFromHead = 'head';

export interface ColumnDraft {
  readonly role: ColumnRole;
  type: ColumnType;
  /** words of the name, from the row's element inwards; empty for the text of the row's own element */
  readonly nameParts: readonly string[];
  /** absolute path of the first source, null for keys and positions */
  xpath: string | null;
  /**
   * the use that the column has, as printed steps (`src/engine/map/names/paths.ts`) below the row's element; for a parent key, below
   * the element of the parent's row
   */
  readonly steps: string;
  sourceType: BuiltInType | null;
  keepsForm: boolean;
  writtenAs: WrittenForm | null;
  /** documents have dates with times in it that have an offset from UTC */
  hasOffsets: boolean;
  /** offset only: the column whose values have this offset */
  readonly offsetOf: ColumnDraft | null;
  /** text of elements that were empty wherever documents had them */
  wasEmpty: boolean;
  /** for a union: the types that its values can have; empty if its declarations differ */
  members: readonly ValueType[];
  /** nodes that open rows of the table and always give this column a value */
  readonly requiredBy: Set<NodeDraft>;
  /** parent_key only */
  readonly parent: TableDraft | null;
  /** child_key only: the table of the row that the key identifies */
  readonly child: TableDraft | null;
  /** see Column.roles; empty: the key has one use */
  readonly roles: readonly string[];
  /** parent_key only: words that distinguish this use from others of the same parent */
  readonly via: readonly string[];
  readonly documentation: string | undefined;
  /** null: none, or the declarations have different ones */
  constraint: ValueConstraint | null;
  /** extra columns only: documents may have no value for it */
  readonly isOptional: boolean;
  /** position in the finished row; set by `finishTables` */
  index: number;
  name: string;
  /** names for the table and count of a list column, used in databases without arrays; set with the name */
  listNames: ListNames | null;
}

/** The origin of a table's rows, which determines its path: steps below another table's rows, or the declaration that identifies it. */
export type TableOrigin = (
  | { readonly under: TableDraft; readonly steps: string }
  /** paths of the declarations, the most important first */
  | { readonly declared: readonly string[] }
) & {
  /** paths of the type, if this is its only place now: an earlier version may have had more of them, and one table for all */
  readonly ofType?: () => readonly string[];
};

/** One of the tables of a row, which may be wider than one table. */
export interface PartDraft {
  readonly columns: readonly ColumnDraft[];
  /** 0: the first; other parts in the order of an earlier version, new ones after those */
  readonly number: number;
  index: number;
  name: string;
}

/** The rows of one table, or of one and its continuations. */
export interface TableDraft {
  readonly kind: Table['kind'];
  /** local names of the first path, root first; the last is the table's own */
  readonly path: readonly string[];
  xpath: string;
  readonly origin: TableOrigin;
  /** distinguishes the table from others of the drawing */
  readonly identity: string;
  /** the origins of the rows, for a table that several places may share */
  readonly places: TableOrigin[];
  /** the use of the source that the table has, in every version of the model (`src/engine/map/names/paths.ts`) */
  readonly usePath: string;
  /** name to use instead of the last step of the path (a shared type's) */
  readonly ownName: string | null;
  /** rows of several places are in this table, because they have one type */
  readonly shared: boolean;
  /** rows of root elements are in this table: they have no parent */
  holdsRoots: boolean;
  readonly columns: ColumnDraft[];
  /** the same columns, split over tables, with row keys and extra columns on each; set by `splitTable` */
  readonly parts: PartDraft[];
  readonly columnByKey: Map<string, ColumnDraft>;
  readonly nodeByKey: Map<string, NodeDraft>;
  /** nodes that open rows here */
  readonly openers: Set<NodeDraft>;
  /** columns of other rows that hold keys of rows of this table */
  readonly heldBy: Set<ColumnDraft>;
  readonly documentation: string | undefined;
  index: number;
  name: string;
}

export interface EdgeDraft {
  readonly name: QName;
  readonly node: NodeDraft;
  parentKey: ColumnDraft | null;
  /** see PlanEdge.role */
  role: string | null;
  /** see PlanEdge.childKeyColumn */
  readonly childKey: ColumnDraft | null;
  readonly minOccurs: number;
  readonly maxOccurs: number | null;
  readonly substitution: boolean;
  /** see PlanEdge.head */
  head: { readonly node: NodeDraft; readonly parentKey: ColumnDraft } | null;
}

export interface NodeDraft {
  readonly name: QName;
  readonly table: TableDraft;
  readonly opensRow: boolean;
  readonly element: number;
  readonly type: number;
  content: 'empty' | 'simple' | 'elements' | 'mixed';
  text: ColumnDraft | null;
  presence: ColumnDraft | null;
  nil: ColumnDraft | null;
  elementName: ColumnDraft | null;
  typeName: ColumnDraft | null;
  foldedPosition: ColumnDraft | null;
  anyAttribute: ColumnDraft | null;
  readonly attributes: { readonly name: QName; readonly column: ColumnDraft }[];
  readonly edges: EdgeDraft[];
  /** clark names of `edges` */
  readonly edgeNames: Set<string>;
  readonly typeEdges: {
    readonly name: QName;
    readonly node: NodeDraft;
    readonly parentKey: ColumnDraft | null;
  }[];
  textTable: TableDraft | null;
  wildcardTable: TableDraft | null;
  /** see PlanNode.keptBeside */
  keptBeside: number | null;
  index: number;
}

export interface Drawing {
  readonly tables: TableDraft[];
  readonly nodes: NodeDraft[];
  readonly roots: EdgeDraft[];
  /** true: types share tables although the level by itself would write their paths out */
  readonly sharedForSize: boolean;
  /** the model before pruning, with all declarations; null: everything is drawn */
  readonly prunedOf: SourceModel | null;
  /** prints the names that `steps` are made of */
  readonly uses: UsePrinter;
  /** see RelationalModel.foldedPlaces; null: folded only by type */
  readonly foldedPlaces: readonly string[] | null;
  /** prints the place of a child of a type, in the form of `foldedPlaces`; null: such a child has a table */
  readonly placeOf: (type: number, child: QName) => string | null;
  readonly unfolded: readonly UnfoldedChild[];
}

/** A child, or a substitution group, that has rows of its own although it occurs at most once. */
export interface UnfoldedChild {
  /** table of the row above */
  readonly table: TableDraft;
  /** steps from the element of that row to the child */
  readonly steps: string;
  /** the place in the form of `foldedPlaces` */
  readonly place: string;
}

export function newTable(
  fields: Pick<
    TableDraft,
    'kind' | 'path' | 'xpath' | 'origin' | 'identity' | 'usePath' | 'ownName' | 'shared' | 'documentation'
  >,
): TableDraft {
  return {
    ...fields,
    holdsRoots: false,
    places: [],
    columns: [],
    parts: [],
    columnByKey: new Map(),
    nodeByKey: new Map(),
    openers: new Set(),
    heldBy: new Set(),
    index: -1,
    name: '',
  };
}

export function newNode(
  fields: Pick<NodeDraft, 'name' | 'table' | 'opensRow' | 'element' | 'type'>,
): NodeDraft {
  const node: NodeDraft = {
    ...fields,
    content: 'empty',
    text: null,
    presence: null,
    nil: null,
    elementName: null,
    typeName: null,
    foldedPosition: null,
    anyAttribute: null,
    attributes: [],
    edges: [],
    edgeNames: new Set(),
    typeEdges: [],
    textTable: null,
    wildcardTable: null,
    keptBeside: null,
    index: -1,
  };
  if (fields.opensRow) fields.table.openers.add(node);
  return node;
}

export interface NewColumn {
  readonly role: ColumnRole;
  readonly type: ColumnType;
  readonly steps?: string;
  readonly nameParts?: readonly string[];
  readonly xpath?: string | null;
  readonly sourceType?: BuiltInType | null;
  readonly keepsForm?: boolean;
  readonly writtenAs?: WrittenForm | null;
  readonly hasOffsets?: boolean;
  readonly offsetOf?: ColumnDraft;
  readonly members?: readonly ValueType[] | undefined;
  readonly parent?: TableDraft;
  readonly roles?: readonly string[];
  readonly child?: TableDraft;
  readonly via?: readonly string[];
  readonly documentation?: string | undefined;
  readonly constraint?: ValueConstraint | null;
  readonly isOptional?: boolean;
}

export function newColumn(fields: NewColumn): ColumnDraft {
  return {
    role: fields.role,
    type: fields.type,
    nameParts: fields.nameParts ?? [],
    xpath: fields.xpath ?? null,
    steps: fields.steps ?? '',
    sourceType: fields.sourceType ?? null,
    keepsForm: fields.keepsForm ?? false,
    writtenAs: fields.writtenAs ?? null,
    hasOffsets: fields.hasOffsets ?? false,
    offsetOf: fields.offsetOf ?? null,
    wasEmpty: false,
    members: fields.members ?? [],
    requiredBy: new Set(),
    parent: fields.parent ?? null,
    child: fields.child ?? null,
    roles: fields.roles ?? [],
    via: fields.via ?? [],
    documentation: fields.documentation,
    constraint: fields.constraint ?? null,
    isOptional: fields.isOptional ?? false,
    index: -1,
    name: '',
    listNames: null,
  };
}

/** Order of columns in a table: keys first, then the position of the row, then values in source order, extras last. */
const roleRank: Readonly<Record<ColumnRole, number>> = {
  row_key: 0,
  document: 1,
  parent_key: 2,
  position: 3,
  element_name: 4,
  type_name: 5,
  nil: 5,
  presence: 5,
  value: 5,
  child_key: 5,
  folded_position: 5,
  offset: 5,
  content: 5,
  extra: 6,
};

export function orderedColumns(table: TableDraft): ColumnDraft[] {
  return table.columns.toSorted((a, b) => roleRank[a.role] - roleRank[b.role]);
}

/**
 * Returns the path of a column. For a parent key, it is that of the child in the parent's row; for an extra column, the name under which it
 * was requested.
 */
export function columnPath({ role, parent, steps, nameParts }: ColumnDraft, table: TableDraft): string {
  if (role === 'extra') return nameParts[0]!;
  return (role === 'parent_key' ? parent! : table).usePath + steps;
}

export function finishedColumn(column: ColumnDraft, table: TableDraft): Column {
  return {
    name: column.name,
    role: column.role,
    type: column.type,
    nullable: !isGuaranteed(column, table),
    xpath: column.xpath,
    path: columnPath(column, table),
    sourceType: column.sourceType,
    ...(column.listNames === null ? {} : { listNames: column.listNames }),
    ...(column.type.kind === 'text' ? {} : formOf(column)),
    references: (column.parent ?? column.child)?.index ?? null,
    ...(column.roles.length === 0 ? {} : { roles: column.roles }),
    ...(column.documentation === undefined ? {} : { documentation: column.documentation }),
    ...(column.constraint === null ? {} : { constraint: column.constraint }),
  };
}

function formOf({ keepsForm, writtenAs }: ColumnDraft): Pick<Column, 'keepsForm' | 'writtenAs'> {
  return {
    ...(keepsForm ? { keepsForm: true as const } : {}),
    ...(writtenAs === null ? {} : { writtenAs }),
  };
}

/** Returns whether every row has a value here: a column is NOT NULL only if the source guarantees it. */
function isGuaranteed(column: ColumnDraft, table: TableDraft): boolean {
  const has = (role: ColumnRole): boolean =>
    table.columns.some((other) => other !== column && other.role === role);
  switch (column.role) {
    case 'row_key':
    case 'document':
      return true;
    case 'extra':
      return !column.isOptional;
    case 'parent_key':
      return !has('parent_key') && !table.holdsRoots && table.heldBy.size === 0;
    case 'position':
      // rows that refer to a head's row have their position there
      return !table.holdsRoots && !table.columns.some((other) => other.via[0] === hangsFromHead);
    case 'content':
      return table.kind !== 'element';
    default:
      return table.openers.size > 0 && [...table.openers].every((opener) => column.requiredBy.has(opener));
  }
}
