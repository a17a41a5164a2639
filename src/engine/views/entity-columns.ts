/**
 * Selects the columns of a view of one table: columns of its rows, of the rows above them, and of the rows that hang from them at most
 * once.
 */
import type { Enumeration } from '../metadata/enumerations.ts';
import { isRoleColumn } from '../model/keys.ts';
import type { MeantIdsOf, Column, RelationalModel } from '../model/relational-model.ts';
import type { RowColumn } from '../model/wide-rows.ts';
import {
  type RoleOfRows,
  type RowContent,
  type RowValue,
  maxJoins,
  rowAboveOf,
  rowsOfModel,
  type JoinedRows,
  type ModelInUse,
  type RowsOfModel,
  type PlacedValue,
} from './joined-rows.ts';
import { splitWords } from '../map/names/identifiers.ts';

/** Some databases allow at most 61 tables in a query; the tables of the rows and of the documents are two more. */
const maxJoinedTables = 58;
/** the most columns that a view takes from one row above, unless each such row has more of them */
const maxToldAbove = 30;
/** steps from a row above to another one that hangs from it */
const deepestToldAbove = 2;
/** most references that are resolved if several tables may have their ids; those of the rows themselves come first */
const maxFollowed = 12;

export interface ViewColumn {
  /** null: the rows of the view itself */
  readonly of: JoinedRows | null;
  readonly place: RowColumn;
  readonly steps: readonly string[];
  /** for a measure with a direction: values of that column that keep the measure's sign (credit) and that reverse it (debit) */
  readonly signedBy?: {
    readonly place: RowColumn;
    readonly of: JoinedRows | null;
    readonly values: readonly [credit: string, debit: string];
  };
}

/** Texts that repeat below a row, put together in their order. */
export interface JoinedTexts {
  readonly of: JoinedRows | null;
  readonly table: number;
  readonly keyColumn: number;
  readonly role: RoleOfRows | null;
  readonly place: RowColumn;
  readonly steps: readonly string[];
}

export interface ViewContent {
  readonly table: number;
  /** the outermost first */
  readonly above: readonly JoinedRows[];
  /** the rows of `above` whose keys the view has: rows with selected columns, or wrappers that have a view of their own */
  readonly keyed: readonly JoinedRows[];
  readonly columns: readonly ViewColumn[];
  readonly texts: readonly JoinedTexts[];
  /** the columns that are references to ids of several tables and that the view has room to resolve */
  readonly followed: ReadonlySet<ViewColumn>;
  /** single references among the values of the rows themselves */
  readonly references: number;
  /** number of columns and texts that describe a row, not counting amounts and times of rows that hang from it */
  readonly weight: number;
}

interface ViewContentsOptions extends ModelInUse {
  /** returns the possible values of a column, by indexes of table and column, or null if they are not known */
  readonly enumeration: (table: number, column: number) => Enumeration | null;
  readonly meantIds: MeantIdsOf;
}

export interface ViewContents {
  of(table: number): ViewContent;
  content(table: number): RowContent;
  /** Rows of the table are but wrappers of the one row below each. */
  isWrapper(table: number): boolean;
}

export function viewContents(
  model: RelationalModel,
  { enumeration, meantIds, ...there }: ViewContentsOptions,
): ViewContents {
  const rowsOf = rowsOfModel(model, there);
  const { content, columnsOf, valuesOf, isShared } = rowsOf;
  const weighedValuesOf = weighedValues(rowsOf, ({ place }) => directions(place) !== null);

  function directions({ table, at }: RowColumn): ReturnType<typeof directionsOf> {
    return directionsOf(enumeration(table, at) ?? []);
  }

  const hangingAbove = new WeakMap<JoinedRows, readonly JoinedRows[]>();

  /** Returns rows that hang once from a row above: always the same objects, which are joined once. */
  function hangingFrom(above: JoinedRows): readonly JoinedRows[] {
    let rows = hangingAbove.get(above);
    if (rows === undefined) {
      const isNear = ({ steps }: { readonly steps: readonly string[] }) => steps.length <= deepestToldAbove;
      rows = rowsOf.hangingOnce(above.table, above, maxJoins.above, isNear);
      hangingAbove.set(above, rows);
    }
    return rows;
  }

  /**
   * Returns the columns that the rows above contribute: their own and, with their measures, the columns that qualify these and give their
   * direction.
   */
  function toldBelow(above: JoinedRows, isTold: (rows: JoinedRows) => boolean): ViewColumn[] {
    const own = [{ rows: above, values: valuesOf(above.table) }];
    for (const rows of hangingFrom(above).filter(isTold))
      own.push({
        rows,
        values: valuesOf(rows.table).map(({ value, place }) => ({
          place,
          value: {
            ...value,
            steps: [...rows.steps, ...value.steps],
            firstRequired: rows.firstRequired,
          },
        })),
      });
    const measured = new Set<string>();
    for (const { values } of own)
      for (const { value, place } of values)
        if (value.steps.length === 1 && isMeasure(value, place.column)) measured.add(value.steps.join('/'));
    const told = own.flatMap(({ rows, values }) =>
      values.flatMap(({ value, place }) => {
        const { steps } = value;
        const saysWhich =
          isToldBelow(value, place.column) ||
          (value.qualifies && measured.has(steps.slice(0, -1).join('/'))) ||
          (steps.length === 1 && directions(place) !== null);
        const isOptional = place.column.nullable && steps.length > 1 && !value.qualifies;
        return saysWhich ? [{ column: { of: rows, place, steps }, isOptional }] : [];
      }),
    );
    // the required date of a document comes before that of an optional part
    const [first, optional] = [false, true].map((is) =>
      told.flatMap(({ column, isOptional }) => (isOptional === is ? [column] : [])),
    ) as [ViewColumn[], ViewColumn[]];
    return [...first, ...optional.slice(0, Math.max(0, maxToldAbove - first.length))];
  }

  function wrapsOneOf({ table }: JoinedRows, below: readonly JoinedRows[]): boolean {
    const wrapped = rowsOf.wrappedBy(table);
    return below.some((rows) => rows.table === wrapped);
  }

  /** Returns repeating texts below a row if their table has no other values. */
  function textsBelow(
    table: number,
    of: JoinedRows | null,
    isTold: (value: RowValue, column: Column) => boolean,
  ): JoinedTexts[] {
    return content(table).hanging.flatMap((rows) => {
      if (rows.single || !there.has(rows.table)) return [];
      const texts = valuesOf(rows.table).filter(({ value }) => !value.qualifies);
      const [text] = texts;
      const isText = text?.place.column.type.kind === 'text' && text.place.column.type.list !== true;
      if (texts.length !== 1 || text === undefined || !isText || text.place.table !== rows.table) return [];
      if (content(rows.table).hanging.length > 0) return [];
      const { value, place } = text;
      if (!isTold({ ...value, steps: [...rows.steps, ...value.steps] }, place.column)) return [];
      const { table: below, keyColumn, role } = rows;
      return [{ of, table: below, keyColumn, role, place, steps: [...(of?.steps ?? []), ...rows.steps] }];
    });
  }

  function isReference({ place: { table, column } }: ViewColumn, fewest: number): boolean {
    return (
      column.sourceType === 'IDREF' &&
      column.type.list !== true &&
      meantIds(model.tables[table]!, column).length >= fewest
    );
  }

  return {
    content,
    isWrapper: (table) => rowsOf.wrappedBy(table) !== null,
    of(table) {
      const above = rowsOf.rowsAbove(table);
      const onTheWay = new Set([table, ...above.map((rows) => rows.table)]);
      const hanging = rowsOf.hangingOnce(table, null, maxJoins.hanging, () => true);
      const told = nearest(toldOnce(weighedValuesOf, hanging, new Set(rowsOf.wrappedRows(table, hanging))));
      const weighty = told.filter(({ weight }) => weight === 0).length;
      const joins = roomForJoins(maxJoinedTables);
      const roomFor = (columns: readonly ViewColumn[]): ViewColumn[] =>
        signed(
          columns.filter(({ of, place }) => joins.take(of, place.table, of?.table ?? table)),
          directions,
        );
      const isBeside = (rows: JoinedRows): boolean => !isOneOf(rows, onTheWay);
      const repeated = roomFor(above.toReversed().flatMap((rows) => toldBelow(rows, isBeside)));
      const keyed = above
        .toReversed()
        .filter(
          (rows, at, all) =>
            repeated.some(({ of }) => rowAboveOf(of) === rows) ||
            (wrapsOneOf(rows, all.slice(at + 1)) && joins.take(rows, rows.table, rows.table)),
        );
      const own = roomFor([
        ...columnsOf(table).flatMap((place): ViewColumn[] =>
          isRoleColumn(place.column) && rowsOf.isPresent(place) ? [{ of: null, place, steps: ['role'] }] : [],
        ),
        ...valuesOf(table).map(({ value, place }) => ({ of: null, place, steps: value.steps })),
        ...told.map(({ column }) => column),
      ]);
      const [alone, others] = [true, false].map((isAlone) =>
        hanging.filter((rows) => (!rows.isAside && !isShared(rows.table)) === isAlone),
      ) as [JoinedRows[], JoinedRows[]];
      const texts = [
        ...textsBelow(table, null, () => true),
        ...alone.flatMap((rows) => textsBelow(rows.table, rows, () => true)),
      ];
      const names = others.flatMap((rows) =>
        textsBelow(rows.table, rows, (value, column) =>
          rows.isAside ? isCalled(rows, value, 'text') : namesOrIdentifies(value, column),
        ),
      );
      // parties of the rows above whose names repeat, such as the seller of an invoice of UBL
      const partiesAbove = above
        .toReversed()
        .flatMap((rows) => hangingFrom(rows).filter(isBeside))
        .flatMap((rows) => textsBelow(rows.table, rows, namesParty));
      const columns = [...repeated, ...own];
      const joinedTexts = [
        ...texts,
        ...names.slice(0, maxJoins.names),
        ...partiesAbove.slice(0, maxJoins.names),
      ].filter(({ of }) => joins.takeOther(of));
      const followed = columns
        .filter((column) => isReference(column, 2))
        .toSorted((a, b) => Number(a.of !== null) - Number(b.of !== null))
        .slice(0, maxFollowed)
        .filter(({ of }) => joins.takeOther(of));
      return {
        table,
        above: above.toReversed(),
        keyed,
        columns,
        texts: joinedTexts,
        followed: new Set(followed),
        references: own.filter((column) => column.of === null && isReference(column, 1)).length,
        weight: own.length - (told.length - weighty) + texts.length,
      };
    },
  };
}

/** True if rows that hang from a row above are those of a table with its own columns in the view, or hang from these. */
function isOneOf(rows: JoinedRows, tables: ReadonlySet<number>): boolean {
  for (let at: JoinedRows | null = rows; at !== null && !at.isAbove; at = at.to)
    if (at.role === null && tables.has(at.table)) return true;
  return false;
}

/** Inserts after each measure whose direction another column gives the measure with its sign. */
function signed(
  columns: readonly ViewColumn[],
  directions: (place: RowColumn) => ReturnType<typeof directionsOf>,
): ViewColumn[] {
  const found = new Map<JoinedRows | null, Map<string, NonNullable<ViewColumn['signedBy']>>>();
  for (const { of, place, steps } of columns) {
    const values = directions(place);
    if (values === null) continue;
    const own = found.get(rowAboveOf(of)) ?? new Map<string, NonNullable<ViewColumn['signedBy']>>();
    found.set(rowAboveOf(of), own.set(steps.slice(0, -1).join('/'), { of, place, values }));
  }
  return columns.flatMap((column) => {
    const { of, place, steps } = column;
    const signedBy = found.get(rowAboveOf(of))?.get(steps.slice(0, -1).join('/'));
    const value = { column: 0, steps, isAttribute: false, qualifies: false, firstRequired: true };
    return signedBy === undefined || !isMeasure(value, place.column)
      ? [column]
      : [column, { ...column, signedBy }];
  });
}

// Selects the values that rows contribute to others from which they hang at most once.

const maxJoinedColumns = 120;
/** the most steps from a shared row to its name: one element, or a text in a repeating one */
const maxStepsAside = { value: 1, text: 2 } as const;
/** a table that is not shared contributes all of its values if it has at most this many */
const fewValues = 12;

/** A value of a row that is joined once. If there are too many, those with the highest priority and the nearest are selected. */
interface ToldOnce {
  readonly column: { readonly of: JoinedRows; readonly place: RowColumn; readonly steps: readonly string[] };
  /**
   * 0: it names or identifies, or its row has few values; 1: a date, an amount, a name of a shared row; 2: any other value of a wrapped
   * row
   */
  readonly weight: 0 | 1 | 2;
  /** steps from the row that the view is of */
  readonly distance: number;
}

interface WeighedValue extends PlacedValue {
  /** null: only used for rows that are wrapped */
  readonly weight: 0 | 1 | null;
}

/**
 * Returns a function that gives the weighed values of a table's rows that are joined once, regardless of the rows they hang from.
 * Computes each table once.
 */
function weighedValues(
  rowsOf: RowsOfModel,
  isDirection: (value: PlacedValue) => boolean,
): (table: number) => readonly WeighedValue[] {
  const known = new Map<number, readonly WeighedValue[]>();
  return (table) => {
    let found = known.get(table);
    if (found === undefined) {
      const isShared = rowsOf.isShared(table);
      const isSmall = !isShared && rowsOf.content(table).values.length <= fewValues;
      const values = rowsOf.valuesOf(table);
      const measured = measuredSteps(values, isShared);
      found = values.map((one) => {
        const { value, place } = one;
        const isWeighty = isSmall || namesOrIdentifies(value, place.column);
        const isTold = isToldOnce(value, place.column, { isShared, measured, isDirection: isDirection(one) });
        return { value, place, weight: isWeighty ? 0 : isTold ? 1 : null };
      });
      known.set(table, found);
    }
    return found;
  };
}

/** `wrapped`: of the rows that hang from those of the view, those that these are wrappers of. */
function toldOnce(
  valuesOf: (table: number) => readonly WeighedValue[],
  hanging: readonly JoinedRows[],
  wrapped: ReadonlySet<JoinedRows>,
): readonly ToldOnce[] {
  return hanging.flatMap((rows) =>
    valuesOf(rows.table).flatMap(({ value, place, weight: own }): ToldOnce[] => {
      if (rows.isAside && !isCalled(rows, value, 'value')) return [];
      const weight = rows.isAside ? 1 : (own ?? (wrapped.has(rows) ? 2 : null));
      if (weight === null) return [];
      const steps = [...rows.steps, ...value.steps];
      return [{ column: { of: rows, place, steps }, weight, distance: steps.length }];
    }),
  );
}

/** True if the value names or identifies the very thing that the shared rows are of. */
function isCalled(rows: JoinedRows, value: RowValue, as: keyof typeof maxStepsAside): boolean {
  return !value.isAttribute && value.steps.length <= maxStepsAside[as] && isNameOf(rows.steps.at(-1)!, value);
}

/**
 * Returns as many columns as a view has room for, in their order. A value that is neither a date nor an amount counts as a step further
 * away.
 */
function nearest(told: readonly ToldOnce[]): readonly ToldOnce[] {
  if (told.length <= maxJoinedColumns) return told;
  const isNeeded = ({ weight }: ToldOnce): number => (weight === 0 ? 0 : 1);
  const steps = ({ weight, distance }: ToldOnce): number => distance + (weight === 2 ? 1 : 0);
  const chosen = new Set(
    told
      .toSorted((a, b) => isNeeded(a) - isNeeded(b) || steps(a) - steps(b) || a.weight - b.weight)
      .slice(0, maxJoinedColumns),
  );
  return told.filter((one) => chosen.has(one));
}

// Limits the number of tables that a query joins to what databases support.

interface RoomForJoins {
  /**
   * Reserves room for a column of those rows in a table, which differs from `first` if it continues that. Returns false if there is none.
   */
  take(of: JoinedRows | null, table: number, first: number): boolean;
  /** Reserves room for another table joined to those rows: repeating texts below them, or a row that they refer to. */
  takeOther(of: JoinedRows | null): boolean;
}

/** `most`: tables that there is room for. */
function roomForJoins(most: number): RoomForJoins {
  const joined = new Map<JoinedRows | null, Set<number>>([[null, new Set()]]);
  let count = 0;
  /** Counts the rows that these hang from, the tables that continue them, and others. */
  const take = (of: JoinedRows | null, continued: readonly number[], others: number): boolean => {
    const missing: JoinedRows[] = [];
    for (let at = of; at !== null && !joined.has(at); at = at.to) missing.push(at);
    const further = continued.filter((table) => !joined.get(of)?.has(table));
    const more = missing.length + further.length + others;
    if (count + more > most) return false;
    count += more;
    for (const rows of missing) joined.set(rows, new Set());
    for (const table of further) joined.get(of)!.add(table);
    return true;
  };
  return {
    take: (of, table, first) => take(of, table === first ? [] : [table], 0),
    takeOther: (of) => take(of, [], 1),
  };
}

// Selects the columns that say what a row is about: its identifiers and names, its dates, and its amounts. Based on types and words of
// names.

/** Words, including those of standards, in names of identifiers, in the languages of business documents. */
const identifyingWords = new Set(
  (
    'id ids identifier identification ident iban bic bei lei isin isbn issn uuid guid uetr urn oid number num nb nr no ref reference key code ean gtin sku ' +
    'codice codigo kod numero nummer numer nif nip'
  ).split(' '),
);
const namingWords = new Set(
  'name nm title titl label denominazione nome cognome nombre apellidos nom nazwa naam namn'.split(' '),
);
/**
 * Words in names, in addition to the word for a name, and in the names of their holders, that identify a company or a person, and not a
 * street.
 */
const partyWords = new Set(
  'company corporate corporation business trade trading firm organisation organization party person legal official registered registration full first last given family'.split(
    ' ',
  ),
);
/** Words in names of the parts of an address: house numbers and place codes do not identify documents. */
const addressWords = new Set(
  'address addr adr indirizzo sede domicilio street building house post postal postcode country ctry'.split(
    ' ',
  ),
);
const currencyWords = new Set('currency ccy cur divisa valuta moneda devise waluty'.split(' '));
/** Words in names of units and currencies. */
const unitWords = new Set([...currencyWords, 'unit', 'units', 'uom']);
/** Words in names of dates that are texts, because some standards have their own forms. */
const dateWords = new Set('date datetime'.split(' '));
const instants: ReadonlySet<Column['type']['kind']> = new Set(['date', 'timestamp', 'timestamptz']);
const measures: ReadonlySet<Column['type']['kind']> = new Set(['numeric', 'real', 'double']);

/** the most steps from a row to a value that describes it */
const deepest = { identity: 5, name: 5 } as const;
/** the same for dates and amounts of a row that is joined once and hangs from only one table, or from several */
const deepestToldOnce = { alone: 3, shared: 2 } as const;

function hasWord(words: ReadonlySet<string>, { steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  return wordsOf(last).some((word) => words.has(word));
}

function wordsOf(step: string): readonly string[] {
  // a reference (`IDref`) does not identify the row
  return splitWords(step).toLowerCase().split('_');
}

function identifies(value: RowValue, { sourceType }: Column): boolean {
  return (
    value.steps.length <= deepest.identity &&
    ((sourceType === 'ID' && !value.qualifies) || hasWord(identifyingWords, value))
  );
}

function namesOrIdentifies(value: RowValue, column: Column): boolean {
  return identifies(value, column) || (value.steps.length <= deepest.name && hasWord(namingWords, value));
}

/** The very name or id of something that is called by the step: `ID`, `Name` or `PartyName` of a `Party`, not its `StreetName`. */
function isNameOf(called: string, { steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  const own = new Set(wordsOf(called));
  const words = wordsOf(last).filter((word) => !own.has(word));
  return words.length > 0 && words.every((word) => identifyingWords.has(word) || namingWords.has(word));
}

/** True for the name of a company or a person: `CorporateName` or `Name`, but not the name of a street. */
function namesParty({ steps, qualifies }: RowValue): boolean {
  const last = steps.at(-1);
  if (last === undefined || qualifies) return false;
  const holder = new Set(wordsOf(steps.at(-2) ?? ''));
  const words = wordsOf(last);
  return (
    words.some((word) => namingWords.has(word)) &&
    words.every((word) => namingWords.has(word) || partyWords.has(word) || holder.has(word))
  );
}

/** True for a date, including a text in a form of its own (`IssueDateTime/DateTimeString`). */
function isDate({ steps, qualifies }: RowValue, { type }: Column): boolean {
  if (type.list === true) return false;
  if (instants.has(type.kind)) return true;
  const isNamed = steps.slice(-2).some((step) => wordsOf(step).some((word) => dateWords.has(word)));
  return type.kind === 'text' && !qualifies && isNamed;
}

/** An amount in the sense of something that has a fraction: whole numbers count or name things. */
function isMeasure({ isAttribute }: RowValue, { type }: Column): boolean {
  return !isAttribute && measures.has(type.kind) && type.list !== true && type.scale !== 0;
}

interface RowsToldOnce {
  /** several other rows share such a row: its deeply nested values describe none of them */
  readonly isShared: boolean;
  /** steps to the measures of the row that the view has, and to their holders */
  readonly measured: ReadonlySet<string>;
  /** the value says which way amounts go */
  readonly isDirection: boolean;
}

function isNear({ steps }: RowValue, isShared: boolean): boolean {
  return steps.length <= deepestToldOnce[isShared ? 'shared' : 'alone'];
}

/** Returns `RowsToldOnce.measured` for the values of one row. */
function measuredSteps(values: readonly PlacedValue[], isShared: boolean): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { value, place } of values)
    if (isMeasure(value, place.column) && isNear(value, isShared))
      found.add(value.steps.join('/')).add(`${value.steps.slice(0, -1).join('/')}/`);
  return found;
}

/**
 * True if the value of a row that hangs from another one once describes that one, beyond its name: a date or time, an amount, or the
 * amount's unit.
 */
function isToldOnce(
  value: RowValue,
  column: Column,
  { isShared, measured, isDirection }: RowsToldOnce,
): boolean {
  const holder = value.steps.slice(0, -1).join('/');
  if (value.qualifies) return measured.has(holder);
  if (measured.has(`${holder}/`) && (isDirection || hasWord(unitWords, value))) return true;
  const isTime = instants.has(column.type.kind) || column.type.kind === 'time';
  return (isTime || isMeasure(value, column)) && isNear(value, isShared);
}

function isOfAddress({ steps }: RowValue): boolean {
  return steps.slice(-2).some((step) => wordsOf(step).some((word) => addressWords.has(word)));
}

/** True if the rows below a row repeat this value of it: its identifier, its owner, its dates, its currency and its own amounts. */
function isToldBelow(value: RowValue, column: Column): boolean {
  const { steps, firstRequired } = value;
  const isOwn = steps.length === 1;
  if (isDate(value, column) || (isOwn && isMeasure(value, column))) return true;
  const isNear = isOwn || (firstRequired && !isOfAddress(value));
  const saysWhose = steps.length <= deepest.name && (namesParty(value) || hasWord(currencyWords, value));
  return isNear && (identifies(value, column) || saysWhose);
}

/** Returns the values that give the direction of an amount, [in, out], or null if the values have another meaning. */
function directionsOf(values: readonly string[]): readonly [credit: string, debit: string] | null {
  if (values.length !== 2) return null;
  const credit = values.find((value) => /^(?:c|cr|crdt|credit)$/i.test(value));
  const debit = values.find((value) => /^(?:d|dr|db|dbit|dbt|debit)$/i.test(value));
  return credit === undefined || debit === undefined ? null : [credit, debit];
}
