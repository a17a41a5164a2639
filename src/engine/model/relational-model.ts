/**
 * The relational model (logical schema): tables, columns, keys, and the plan that leads from source paths to them.
 * Plain JSON; references are indexes. The same plan serves shredding (XML -> rows) and writing back (rows -> XML).
 */
import { peekMember } from './packed/reader.ts';
import type { WildcardNamespaces, BuiltInType, QName } from './source-model.ts';

// References by `xs:IDREF` and `xs:IDREFS`: the tables and columns with the ids that they may mean.

/** Indexes of a table and of its column with the ids. */
export interface MeantIds {
  readonly table: number;
  readonly column: number;
}

/** Asked of each reference of a model: its tables are looked through once, when the first is asked for. */
export type MeantIdsOf = (table: Table, column: Column) => readonly MeantIds[];

/** Returns all ids that a column may mean; none if it is not a reference, or if nothing has ids. */
export function meantIdsOf(model: RelationalModel): MeantIdsOf {
  let all: readonly MeantIds[] | undefined;
  return (table, column) => {
    if (column.sourceType !== 'IDREF' && column.sourceType !== 'IDREFS') return [];
    const declared = declaredIds(model, table, column);
    return declared.length > 0 ? declared : (all ??= allIds(model));
  };
}

/** The columns that keyrefs of the XSD name for it. */
function declaredIds(model: RelationalModel, table: Table, column: Column): MeantIds[] {
  const found = new Map<string, MeantIds>();
  const rules = model.identityRules ?? [];
  for (const { kind, refers, tables } of rules) {
    if (kind !== 'keyref' || refers === null) continue;
    const refersHere = tables.some(
      (one) =>
        one.columns.length === 1 &&
        model.tables[one.table]!.name === table.name &&
        table.columns[one.columns[0]!]?.name === column.name,
    );
    if (!refersHere) continue;
    for (const { table: meant, columns } of rules[refers]!.tables)
      if (columns.length === 1) found.set(`${meant}:${columns[0]}`, { table: meant, column: columns[0]! });
  }
  return [...found.values()];
}

/** The columns of the model that have ids. */
export function allIds({ tables }: RelationalModel): readonly MeantIds[] {
  return tables.flatMap((one, table) =>
    peekMember(one, 'columns').flatMap(({ role, sourceType, type }, column) =>
      role === 'value' && sourceType === 'ID' && type.list !== true ? [{ table, column }] : [],
    ),
  );
}

// The model.

export type MapLevel = 0 | 1 | 2 | 3;

/** Logical type of a column; a dialect turns it into SQL. `numeric` without precision is unbounded. */
export interface ColumnType {
  readonly kind:
    | 'text'
    | 'boolean'
    | 'smallint'
    | 'integer'
    | 'bigint'
    | 'numeric'
    | 'real'
    | 'double'
    | 'date'
    | 'time'
    | 'timestamp'
    | 'timestamptz';
  /** text: the most characters */
  readonly length?: number;
  /** text: exactly `length` characters, the last of them no blank */
  readonly fixed?: true;
  /** text: its UTF-8 has at most `length` bytes, as ASCII has, if the source follows its rules */
  readonly fitsBytes?: true;
  readonly precision?: number;
  readonly scale?: number;
  /** a list of such values: an array if the dialect supports it */
  readonly list?: boolean;
}

/**
 * The form in which values are written back when the XSD allows only some of the lexical forms of its type. Numbers have at least these digits, and
 * further digits only if the value needs them.
 */
export interface WrittenForm {
  /** digits before the point, filled up with leading zeros; absent: 1 */
  readonly whole?: number;
  /** digits after the point, or of a second's fraction, filled up with trailing zeros; absent: 0 */
  readonly fraction?: number;
  /** booleans are 1 and 0, not true and false */
  readonly digits?: true;
}

/** Digits that exact numbers of most databases and formats have. */
export const maxDecimalDigits = 38;

/** The purpose of a column. Only `value` columns hold source values; the others describe structure. */
export type ColumnRole =
  | 'row_key'
  | 'parent_key'
  /** key of the row of a child that occurs here at most once, if several places share its table */
  | 'child_key'
  | 'position'
  | 'document'
  | 'value'
  /** folded element that may be present and empty: true when it is there */
  | 'presence'
  /** nillable element: true when xsi:nil was given */
  | 'nil'
  /** name of the element that the row is, if it may be one of several, or its way from the parent row (PlanEdge.role) */
  | 'element_name'
  /** the xsi:type given */
  | 'type_name'
  /** position of a folded child whose order the model does not imply */
  | 'folded_position'
  /** minutes that the date with a time in the column before it is written ahead of UTC; NULL: it is in UTC (`Z`), or has no zone */
  | 'offset'
  /** text or markup of mixed content and wildcards (in `text` and `wildcard` tables) */
  | 'content'
  /** -R */
  | 'extra';

export interface Column {
  readonly name: string;
  readonly role: ColumnRole;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** absolute XPath of the first source of this column; null for keys and positions */
  readonly xpath: string | null;
  /**
   * Identifies, with the role, the column's use of the source in every version of the model (`src/engine/map/names/paths.ts`). For a
   * parent key: the child's use in the parent's row; for an extra column: its name.
   */
  readonly path: string;
  /** names for a list column if lists are tables */
  readonly listNames?: ListNames;
  /** type of the source value: 'element' text, 'attribute' … ; null for structure columns */
  readonly sourceType: BuiltInType | null;
  /** the form of values is significant: a value that the column does not reproduce literally is also kept as written (`_lexical`) */
  readonly keepsForm?: true;
  /** absent: any lexical form of the type is valid, or the type is a guess from documents */
  readonly writtenAs?: WrittenForm;
  /** parent_key, child_key: index of the referenced table (its row key); row_key of a continuation: the table it continues */
  readonly references: number | null;
  /**
   * parent_key of several elements of the row above: the ways to them from there, those of earlier versions included. A column with the role
   * element_name says which a row is. Absent: it is of one.
   */
  readonly roles?: readonly string[];
  readonly documentation?: string;
  /** absent: none, or declarations that share the column differ in it */
  readonly constraint?: ValueConstraint;
}

/** The value that the XSD gives to an absent attribute or an empty element (`default`), or the only allowed value (`fixed`). */
export interface ValueConstraint {
  readonly kind: 'default' | 'fixed';
  readonly value: string;
}

/** Names of the objects that a database without arrays has for a list column. */
export interface ListNames {
  /** the column with the number of items */
  readonly count: string;
  /** the table of the items */
  readonly table: string;
}

export interface Table {
  readonly name: string;
  /** element rows; text runs of mixed content; wildcard content as XML text */
  readonly kind: 'element' | 'text' | 'wildcard';
  /** absolute XPath of the first element path that makes rows here */
  readonly xpath: string;
  /** Identifies the use of the source that its rows represent, as for columns. A continuation has the path of its first table. */
  readonly path: string;
  readonly columns: readonly Column[];
  /**
   * The table whose rows this one continues, one to one and with the same row key, for a row that is wider than one table
   * (`src/engine/model/wide-rows.ts`). It follows that table, or another that continues it. Absent in a row's first table.
   */
  readonly continues?: number;
  /** natural keys declared or read from the XSD: column indexes */
  readonly uniqueKeys: readonly { readonly name: string; readonly columns: readonly number[] }[];
  readonly documentation?: string;
}

/** The edge from an element to a child element: the child's plan node, and the parent key column that the child's row fills (-1: none). */
export interface PlanEdge {
  readonly name: QName;
  readonly node: number;
  /**
   * column of the child's table for the key of the current row; -1 for folded children, roots, and if the current row has the child's key
   */
  readonly parentKeyColumn: number;
  /**
   * The value here of the column that names the element in the child's table: the way from the row above. It distinguishes rows that hang
   * from that row by the same key. Absent: the element's name, if the table has such a column.
   */
  readonly role?: string;
  /** column of the current row for the key of the child's row, which then has no key of its parent; absent: there is none */
  readonly childKeyColumn?: number;
  readonly minOccurs: number;
  readonly maxOccurs: number | null;
  /** a substitution group member in place of the declared element */
  readonly substitution?: boolean;
  /**
   * The group is too wide for one table: a row of its head's table is opened first, filling `parentKeyColumn` there;
   * the element's own row hangs from it, one to one, through this edge's `parentKeyColumn`.
   */
  readonly head?: { readonly node: number; readonly parentKeyColumn: number };
}

/**
 * One kind of element at one place. Nodes are shared if tables are shared (reuse, recursion). Columns, here and in edges, are those of
 * the row: the columns of `table`, followed by those of the tables that continue it (`rowColumns`).
 */
export interface PlanNode {
  readonly name: QName;
  /** table whose row has this element's values */
  readonly table: number;
  /** true: this element makes a row of `table`; false: it is folded into the row of its parent */
  readonly opensRow: boolean;
  readonly content: 'empty' | 'simple' | 'elements' | 'mixed';
  /** column index in the row, -1 for none */
  readonly textColumn: number;
  readonly presenceColumn: number;
  readonly nilColumn: number;
  readonly elementNameColumn: number;
  readonly typeNameColumn: number;
  readonly foldedPositionColumn: number;
  readonly attributes: readonly { readonly name: QName; readonly column: number }[];
  readonly edges: readonly PlanEdge[];
  /** table for text runs of mixed content; -1 for none */
  readonly textTable: number;
  /** table for content that matched an XSD wildcard; -1 for none */
  readonly wildcardTable: number;
  /** column (of the row) with attributes that matched an anyAttribute; -1 for none */
  readonly anyAttributeColumn: number;
  /** namespaces that those wildcards let in; absent: any */
  readonly anyElementNamespaces?: WildcardNamespaces;
  readonly anyAttributeNamespaces?: WildcardNamespaces;
  /** by xsi:type (an expanded type name): the node to use instead, and the parent key its row fills (-1: that of the edge that led here) */
  readonly typeEdges: readonly {
    readonly name: QName;
    readonly node: number;
    readonly parentKeyColumn: number;
  }[];
  /** index of the element in the source model, for statistics and writing back */
  readonly sourceElement: number;
  readonly sourceType: number;
  /** the XSD's default of xml:space; absent: none, and the element is as the one around it */
  readonly space?: 'preserve' | 'default';
  /** parts that are intentionally left out because their mappings are inactive: counted as ignored, never as unmapped */
  readonly ignored?: IgnoredParts;
  /** index in the model's `keptBeside`: the content that an element of this kind may have but its row does not */
  readonly keptBeside?: number;
}

/** The parts that the schema declares and the tables have no column for. They are kept in `_unmapped` and are not deviations. */
export interface KeptBeside {
  readonly elements: readonly QName[];
  readonly attributes: readonly QName[];
}

export interface IgnoredParts {
  readonly elements: readonly QName[];
  readonly attributes: readonly QName[];
  readonly text: boolean;
  /** content that matches an XSD wildcard */
  readonly anyElement: boolean;
  readonly anyAttribute: boolean;
}

/** One line of the source-to-target map (docs/decisions/service/catalogue.md, Mapping), before ids are given. */
export interface MappingEntry {
  readonly xpath: string | null;
  readonly nodeType: 'element' | 'attribute' | 'text' | 'mixed' | 'any';
  readonly sourceType: string;
  readonly minOccurs: number;
  readonly maxOccurs: number | null;
  /** index into tables */
  readonly table: number;
  /** index into the table's columns; null for an element that makes rows */
  readonly column: number | null;
  readonly documentation?: string;
  /** false: left out of the target; `table` is then the nearest one that is there, `column` null */
  readonly active?: false;
}

/** A name test of XPath; null: any. */
export interface NameTest {
  readonly namespaceUri: string | null;
  readonly localName: string | null;
}

/** A path of an identity constraint (XSD Part 1 §3.11.6): child steps, at last an attribute; none: the element itself. */
export interface IdentityPath {
  /** the path begins with `.//`: the first step may be at any depth */
  readonly anywhere: boolean;
  readonly steps: readonly NameTest[];
  readonly attribute: NameTest | null;
}

/** A key, unique or keyref of the XSD. It is shown, and checked when documents are loaded, but never enforced. */
export interface IdentityRule {
  readonly kind: 'key' | 'unique' | 'keyref';
  readonly name: QName;
  /** keyref: index of the referenced rule; null if it is not declared */
  readonly refers: number | null;
  /** plan nodes of the elements that declare it: it holds within each such element of a document */
  readonly nodes: readonly number[];
  /** alternatives */
  readonly selector: readonly IdentityPath[];
  /** fields in order, each with its alternatives */
  readonly fields: readonly (readonly IdentityPath[])[];
  /** the tables of the rows that it selects, if all fields are columns there: a natural key, or a reference to one */
  readonly tables: readonly { readonly table: number; readonly columns: readonly number[] }[];
}

/** The options a model was made with, if they differ from the defaults. Its next version is made with the same options. */
export interface ModelOptions {
  readonly nameMode?: 'l' | 'u' | 'c';
  readonly tablePrefix?: string;
  readonly tableSuffix?: string;
  readonly rename?: readonly (readonly [from: string, to: string])[];
  readonly defaultTextLength?: number;
}

/**
 * A table, or columns of one, of earlier versions of the model that this one does not have. Their names are not reused, because targets
 * may still contain the earlier ones.
 */
export interface FormerTable {
  readonly name: string;
  /** see `Table` */
  readonly path: string;
  /** no version had rows there: it has the default names of its origin, of which a pruned model only keeps the names */
  readonly hadNoRows?: true;
  readonly columns: readonly FormerColumn[];
}

export interface FormerColumn {
  readonly name: string;
  /** the use, as returned by `useOf` */
  readonly use: string;
}

export interface RelationalModel {
  readonly mapLevel: MapLevel;
  readonly nameMaxLength: number;
  /** parents before children */
  readonly tables: readonly Table[];
  readonly nodes: readonly PlanNode[];
  readonly roots: readonly PlanEdge[];
  readonly mappings: readonly MappingEntry[];
  readonly namespaces: Readonly<Record<string, string>>;
  /** absent: the source declares none */
  readonly identityRules?: readonly IdentityRule[];
  /** absent: the tables have a place for all that the source declares */
  readonly keptBeside?: readonly KeptBeside[];
  /**
   * `--prune`: elements that are folded into their parent's row, by the parent's type and the element's name, whatever content their type
   * has elsewhere. Later versions keep them. Absent: only types decided.
   */
  readonly foldedPlaces?: readonly string[];
  /**
   * Without `foldedPlaces`: elements that are folded into their parent's row, identified in the same way, because their tables would only
   * connect others. Later versions keep them. Absent: none.
   */
  readonly foldedTables?: readonly string[];
  /**
   * Types, by their paths, that occur at many places and have a separate table for each place at which they repeat. Later versions keep
   * them. Absent: none, and a type with one table for all of its places keeps it.
   */
  readonly typesApart?: readonly string[];
  readonly options?: ModelOptions;
  /** absent: the model has everything that its earlier versions had, except for `keepsDefaultNames` */
  readonly formerTables?: readonly FormerTable[];
  /**
   * the default names of an origin's tables and columns are not given to anything else, even if `formerTables` does not have them
   * (`--prune`)
   */
  readonly keepsDefaultNames?: true;
}
