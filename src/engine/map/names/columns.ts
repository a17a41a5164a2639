/** Names of the columns of a table's rows, even if the rows are split over several tables. */
import { listCountUse } from '../../model/column-uses.ts';
import type { SourceModel } from '../../model/source-model.ts';
import { fileKeyName } from '../../model/side-tables.ts';
import { unreservedColumn } from './reserved-names.ts';
import {
  byteLength,
  joinedSteps,
  lastWords,
  NameScope,
  structureWord,
  type Identifiers,
  type NamingOptions,
  type StayingSteps,
  type StepChooser,
} from './identifiers.ts';
import { orderedColumns, type ColumnDraft, type TableDraft } from '../tables/model-builder.ts';
import { createNameParts, createWordsSaidOnce } from './words.ts';
import { unobservedSteps } from './declared-paths.ts';
import { type PreviousNames, useOfDraft } from './history.ts';
import { createStepChooser } from './distinctive-steps.ts';
import type { Roles } from './type-names.ts';

/** Requirements on column names beyond the limits of databases. */
export interface ReadableNames {
  /**
   * the model before pruning, with all declarations; null: it was not pruned. A name must say which of several declared values it is, even
   * if documents never had the others
   */
  readonly prunedOf: SourceModel | null;
  isKeyOfTable(name: string): boolean;
  readonly roles: Roles;
  /** steps that occur several times in rows of some table */
  readonly isRepeated: (step: string) => boolean;
}

/** Names longer than this say less of the way to a value, as long as the rest distinguishes it from all others. */
const maxReadable = 40;

/** The name of a value alone says too little, so a step before it stays. */
const valueSteps: StayingSteps = { fewest: 2, last: 1 };
/** Drops the holder from a name if the value's own name says it and both are too long together. */
const valueAlone: StayingSteps = { fewest: 1, last: 1 };
/** The element that has the attribute stays in the name. */
const attributeSteps: StayingSteps = { fewest: 2, last: 2 };
/** For an id or code, the element that it identifies says more than the word for the id. */
const withoutIdentifying: StayingSteps = { fewest: 2, last: 2, withoutOwner: true };
/** The foreign key says which table. */
const keyOfParent: StayingSteps = { fewest: 1, last: 1 };

/** Names the columns of a table. Columns that hold source values are named first; structure columns avoid their names. */
export function nameColumns(
  table: TableDraft,
  naming: NamingOptions,
  identifiers: Identifiers,
  previous: PreviousNames,
  unsaid: ReadonlyMap<TableDraft, number>,
  { prunedOf, isKeyOfTable, roles, isRepeated }: ReadableNames,
): void {
  const scope = new NameScope(naming.maxBytes, previous.columnMeanings(table.usePath), undefined, (name) =>
    unreservedColumn(name, naming),
  );
  const word = (text: string): string => structureWord(text, naming.nameMode);
  const ordered = orderedColumns(table);
  table.columns.splice(0, table.columns.length, ...ordered);
  const structure: ColumnDraft[] = [];
  const uses = new Map<TableDraft | null, number>();
  for (const { parent } of ordered) uses.set(parent, (uses.get(parent) ?? 0) + 1);
  const known = new Map<ColumnDraft, string>();
  for (const column of ordered) {
    const meaning = useOfDraft(column, table);
    const name = previous.column(table.usePath, meaning);
    if (name !== undefined) known.set(column, scope.claimName([name], column.xpath ?? name, { meaning }));
  }
  const fileKey = word(fileKeyName);
  // a target of an earlier version may use the name for another column, which keeps it there
  const isFileKeyFree = scope.isFree(fileKey, 'document');
  if (isFileKeyFree) scope.claimName([fileKey], fileKey, { meaning: 'document' });
  // the steps of a key: the way from the parent's row to the key's row
  const asKey = (steps: readonly string[]): string[] =>
    steps.map((step, at) => (at === steps.length - 1 ? `${step}_${word('key')}` : step));
  const namePartsOf = createNameParts(ordered);
  const heirs = waysOfHeirs(ordered, identifiers);
  const stepsOf = (column: ColumnDraft): string[] => {
    const { role, parent, via } = column;
    const steps = parent === null ? namePartsOf(column) : via;
    const said = steps
      .slice(Math.min(unsaid.get(parent ?? table)!, Math.max(0, steps.length - 1)))
      .map(identifiers);
    if (column.wasEmpty && heirs.has(column.nameParts.join('/'))) return [...said, word('text')];
    return role === 'child_key' ? asKey(said) : said;
  };
  const keySteps = (column: ColumnDraft): string[] => asKey(stepsOf(column));
  const drawnSteps = ordered.filter(({ nameParts }) => nameParts.length > 0).map((column) => stepsOf(column));
  // siblings of a name that is too long are shortened in the same way
  const abridged = (): (readonly string[])[] => [
    ...drawnSteps.filter(isAbridged),
    ...siblingsOf(
      ordered.filter(({ role }) => role === 'value'),
      stepsOf,
      isAttribute,
    ).flatMap((family) => (family.some((column) => isAbridged(stepsOf(column))) ? family.map(stepsOf) : [])),
  ];
  const unmet = prunedOf === null ? () => [] : unobservedSteps(prunedOf, table, abridged(), identifiers);
  const saidOnce = createWordsSaidOnce(drawnSteps, unmet, naming.maxBytes);
  // an element within one of the same name is a different thing
  const wordsOf = (column: ColumnDraft): string => {
    const steps = stepsOf(column);
    const isNested = steps.length > 1 && steps.at(-1) === steps.at(-2) && !isAttribute(column);
    return column.parent !== null || isNested ? steps.join('_') : saidOnce(steps);
  };
  const choose = createStepChooser({
    paths: () => [...drawnSteps, ...(unmet() ?? [])],
    isRepeated,
    roleOf: roles.roleOf,
  });
  const isReadable = (name: string, parent: TableDraft | null): boolean => {
    const bytes = byteLength(name);
    if (bytes <= maxReadable || bytes > naming.maxBytes) return bytes <= maxReadable;
    return prunedOf !== null && (parent !== null || unmet() === null);
  };
  const chooseOfKey = createStepChooser({
    paths: () => ordered.filter(({ via }) => via.length > 0).map((column) => keySteps(column)),
  });
  const chooseOfWholeKey = createStepChooser({
    paths: () =>
      ordered.flatMap((column) =>
        column.parent === null ? [] : [[column.parent.name, ...keySteps(column)]],
      ),
  });
  // long names are given after the others
  const later: (() => void)[] = [];
  const values: ValueName[] = [];
  const elementWords = new Set(
    ordered.flatMap((column) =>
      column.role === 'value' && !isAttribute(column) ? [wordsOf(column).toLowerCase()] : [],
    ),
  );
  for (const column of ordered) {
    const keeps = known.get(column);
    if (keeps !== undefined) {
      column.name = keeps;
      continue;
    }
    if (column.role === 'document' && isFileKeyFree && !naming.rename.has(fileKey)) {
      column.name = fileKey;
      continue;
    }
    // offsets are named after the times have their names
    if (column.role === 'offset') continue;
    if (column.role !== 'value' && column.role !== 'extra') {
      structure.push(column);
      continue;
    }
    const steps = stepsOf(column);
    const words = wordsOf(column);
    const name = column.role === 'extra' ? column.nameParts[0]! : words === '' ? word('value') : words;
    const wanted = naming.rename.get(name) ?? name;
    // an attribute with the name of another element of the row says that it is an attribute: name_attr, name
    const named =
      isAttribute(column) && elementWords.has(words.toLowerCase()) ? `${wanted}_${word('attr')}` : wanted;
    // if the name had another meaning before, all steps say more than a number; a name that is cut to fit a number would not say what the
    // value is
    const numbered = (whole: string): string[] =>
      byteLength(whole) + 2 > naming.maxBytes ? [] : [`${whole}_2`, `${whole}_3`];
    const candidates =
      words === ''
        ? [wanted, word('text'), word('text_value')]
        : [named, ...(wanted === name ? [steps.join('_')] : []), ...numbered(wanted)];
    const meaning = useOfDraft(column, table);
    const isFree = (one: string): boolean => scope.isFree(one, meaning);
    const claim = (short: readonly string[]): void => {
      const names = [...short.filter(isFree), ...candidates];
      column.name = scope.claimName(names, column.xpath ?? name, { meaning, steps, choose });
    };
    const isWhole = wanted !== name || isReadable(named, null);
    const claimAlone = (): void => {
      if (isWhole) claim([]);
      else later.push(() => claim(shortNames(steps, choose, naming, waysToStay(column, steps))));
    };
    const isOfSteps = column.role === 'value' && wanted === name && named === name && words !== '';
    values.push({ steps, isAttribute: isAttribute(column), isWhole, isOfSteps, isFree, claim, claimAlone });
  }
  claimValueNames(values, (siblings) =>
    alikeNames(
      siblings.map(({ steps }) => steps),
      choose,
      Math.min(naming.maxBytes, maxReadable),
      siblingWays(siblings[0]!),
    ).map((names) => names.map((name) => naming.rename.get(name) ?? name)),
  );
  for (const column of structure) {
    const candidates = structureCandidates(
      { table, column, uses: uses.get(column.parent)!, words: wordsOf(column) },
      naming,
      isKeyOfTable,
    );
    const wanted = candidates.map((name) => naming.rename.get(name) ?? name);
    const path = `${table.xpath}#${column.role}/${column.parent?.xpath ?? ''}/${column.via.join('/')}/${column.nameParts.join('/')}`;
    const claim = {
      meaning: useOfDraft(column, table),
      steps: column.parent === null ? stepsOf(column) : keySteps(column),
      choose: column.parent === null ? choose : chooseOfKey,
    };
    const isNamed = wanted[0] !== candidates[0] || column.role === 'row_key';
    // the name of the parent's own key
    const isPlainKey = column.parent !== null && uses.get(column.parent) === 1;
    const isShort = isPlainKey || isReadable(wanted[0]!, column.parent);
    if (isNamed || (isShort && scope.isFree(wanted[0]!, claim.meaning))) {
      column.name = scope.claimName(wanted, path, claim);
      continue;
    }
    later.push(() => {
      const { parent } = column;
      const short =
        parent === null
          ? shortNames(claim.steps, choose, naming, waysToStay(column, claim.steps))
          : shortNames([parent.name, ...claim.steps], chooseOfWholeKey, naming, [keyOfParent]).filter(
              (name) => !isKeyOfTable(name) || name === `${parent.name}_${word('key')}`,
            );
      const free = short.filter((name) => scope.isFree(name, claim.meaning));
      column.name = scope.claimName([...free, ...wanted], path, claim);
    });
  }
  for (const claimName of later) claimName();
  for (const column of ordered) {
    if (column.offsetOf === null || known.has(column)) continue;
    const wanted = `${column.offsetOf.name}_${word('offset')}`;
    const names = [naming.rename.get(wanted) ?? wanted, `${wanted}_2`, `${wanted}_3`];
    column.name = scope.claimName(names, column.xpath ?? wanted, { meaning: useOfDraft(column, table) });
  }
  for (const column of ordered) {
    if (column.type.list !== true) continue;
    const meaning = listCountUse(useOfDraft(column, table));
    const wanted = `${column.name}_${word('count')}`;
    const name = previous.column(table.usePath, meaning);
    const names = [...(name === undefined ? [] : [name]), wanted, `${wanted}_2`, `${wanted}_3`];
    column.listNames = { count: scope.claimName(names, column.xpath ?? column.name, { meaning }), table: '' };
  }
}

/**
 * Returns the ways to elements whose name an attribute would get if its words were said once (`RouteRef/@ref` is `route_ref`). If such an
 * element's own text was always empty, the attribute gets the name.
 */
function waysOfHeirs(columns: readonly ColumnDraft[], identifiers: Identifiers): ReadonlySet<string> {
  return new Set(
    columns.flatMap((column) => {
      const way = column.nameParts.slice(0, -1);
      const [outer, own] = column.nameParts.slice(-2).map(identifiers);
      return isAttribute(column) && own !== undefined && joinedSteps([outer!, own]) === outer
        ? [way.join('/')]
        : [];
    }),
  );
}

/** Returns the steps that stay in the name, in the order in which names are tried. */
function waysToStay(column: ColumnDraft, steps: readonly string[]): readonly StayingSteps[] {
  if (isAttribute(column)) return waysOfAttribute(steps);
  // an id or code is named by the element it identifies, and so are columns that describe an element but do not hold its content
  if (isIdentifying(steps.at(-1)) || (column.role !== 'value' && column.role !== 'child_key'))
    return [attributeSteps];
  const [holder, own] = steps.slice(-2);
  return own !== undefined && saysHolder(own, holder!) ? [valueSteps, valueAlone] : [valueSteps];
}

function waysOfAttribute(steps: readonly string[]): readonly StayingSteps[] {
  return isIdentifying(steps.at(-2)) ? [withoutIdentifying, attributeSteps] : [attributeSteps];
}

/**
 * Keeps the element that holds the siblings, and that element's own holder if it is an id or code: the names of siblings say only what they
 * have in common.
 */
function siblingWays({ isAttribute: isOfElement, steps }: ValueName): readonly StayingSteps[] {
  if (!isOfElement || !isIdentifying(steps.at(-2))) return [{ ...attributeSteps, withOwner: true }];
  return [withoutIdentifying, { fewest: 3, last: 3 }];
}

/**
 * Tests for an id or code. It belongs to its holder, and so do its attributes: `country` `identification_code` `list_id` is
 * `country_list_id`.
 */
function isIdentifying(step = ''): boolean {
  return /^(?:identification_)?(?:id|code)$/i.test(step);
}

/** Returns whether a value's own name says which element holds it: `auction_constraint_indicator` of `auction_terms`. */
function saysHolder(own: string, holder: string): boolean {
  const words = own.split('_');
  return words.length > 2 && words.includes(holder.split('_')[0]!);
}

/**
 * Names without the steps that distinguish nothing. Readable names come first; names whose words could be confused with those of other
 * names come last.
 */
function shortNames(
  steps: readonly string[],
  choose: StepChooser,
  { maxBytes, rename }: NamingOptions,
  ways: readonly StayingSteps[],
): string[] {
  const bySteps = ways.map((staying) => ({ ...staying, bySteps: true as const }));
  return [ways, bySteps].flatMap((some) => {
    const names = some
      .map((staying) => joinedSteps(choose.tellApart(steps, Math.min(maxBytes, maxReadable), staying)))
      // a column without a way to a value, such as the position of a row, has no steps
      .filter((name) => name !== '' && byteLength(name) <= maxBytes);
    const [readable, long] = [true, false].map((is) =>
      names.filter((name) => byteLength(name) <= maxReadable === is),
    );
    return [...readable!, ...long!].map((name) => rename.get(name) ?? name);
  });
}

/** Returns whether a name of these steps may leave out or shorten some of them. */
function isAbridged(steps: readonly string[]): boolean {
  const words = steps.join('_');
  return byteLength(words) > maxReadable || joinedSteps(steps) !== words;
}

function isAttribute({ xpath }: ColumnDraft): boolean {
  return xpath !== null && /\/@[^/]*$/.test(xpath);
}

/**
 * Counts the steps at the start of all columns' names that are left out. If names would be too long, steps that all of them share say
 * nothing (`Document/FIToFICstmrCdtTrf/GrpHdr/MsgId` is `grp_hdr_msg_id`).
 */
export function omittedSteps(
  columns: readonly ColumnDraft[],
  { maxBytes }: NamingOptions,
  identifiers: Identifiers,
): number {
  const named = columns.filter(
    ({ role, nameParts }) => role !== 'extra' && (role === 'value' || nameParts.length > 0),
  );
  const isTooLong = (from: number): boolean =>
    named.some(({ nameParts }) => byteLength(nameParts.slice(from).map(identifiers).join('_')) > maxBytes);
  let steps = 0;
  while (isTooLong(steps)) {
    const [first] = named;
    // the rest of a name says at least what the value is
    const isShared = named.every(
      ({ role, nameParts }) =>
        nameParts.length > steps + (role === 'value' ? 1 : 2) && nameParts[steps] === first!.nameParts[steps],
    );
    if (!isShared) break;
    steps += 1;
  }
  return steps;
}

/**
 * Returns the names to try for a structure column. `uses`: the number of the table's keys to the same parent; `words`: the words that name
 * the column.
 */
function structureCandidates(
  {
    table,
    column,
    uses,
    words,
  }: {
    readonly table: TableDraft;
    readonly column: ColumnDraft;
    readonly uses: number;
    readonly words: string;
  },
  naming: NamingOptions,
  isKeyOfTable: ReadableNames['isKeyOfTable'],
): string[] {
  const word = (text: string): string => structureWord(text, naming.nameMode);
  const ending = (name: string, end: string): string =>
    `${lastWords(name, naming.maxBytes - byteLength(`_${end}`))}_${word(end)}`;
  // in every table, the name `document_key` is reserved for the key of the document
  const keyOf = (name: string): string =>
    ending(name, ending(name, 'key').toLowerCase() === fileKeyName ? 'row_key' : 'key');
  switch (column.role) {
    case 'row_key':
      return [keyOf(table.name), `${table.name}_${word('row_key')}`];
    case 'document':
      return [word(fileKeyName), word(`_${fileKeyName}`)];
    case 'position':
      return [word('position'), word('_position'), word('child_position')];
    case 'parent_key': {
      const parent = column.parent!;
      if (parent === table && uses === 1) return [keyOf(`${word('parent')}_${parent.name}`)];
      const detailed = `${parent.name}_${words}_${word('key')}`;
      if (uses === 1) return [keyOf(parent.name), detailed];
      // the foreign key says which table; the way to it distinguishes two keys to one table
      return byteLength(detailed) > naming.maxBytes
        ? [`${words}_${word('key')}`]
        : [detailed, `${word('parent')}_${detailed}`];
    }
    case 'child_key': {
      const child = column.child!;
      const detailed = `${words.slice(0, -word('key').length)}${child.name}_${word('key')}`;
      // the key of another table has that name
      const isMisleading = isKeyOfTable(words) && words !== keyOf(child.name);
      return isMisleading ? [detailed, `${detailed}_2`] : [words, detailed, `${words}_2`];
    }
    default:
      return [words, `_${words}`, `${words}_2`];
  }
}

// Names of values in one element: if the way to it is too long for the name of one of them, the names of all keep the same part of it.

type Steps = readonly string[];

/** Groups steps that differ only in their last one, elements and attributes separately. */
export function siblingsOf<T>(
  values: readonly T[],
  stepsOf: (value: T) => Steps,
  isAttribute: (value: T) => boolean,
): readonly (readonly T[])[] {
  const families = Map.groupBy(values, (value) =>
    [isAttribute(value) ? '@' : '', ...stepsOf(value).slice(0, -1)].join('/'),
  );
  return [...families.values()].filter(([first, ...more]) => more.length > 0 && stepsOf(first!).length > 1);
}

/** A name to be given: to one value, or to it together with its siblings. */
export interface ValueName {
  readonly steps: Steps;
  readonly isAttribute: boolean;
  /** whether it says all of its steps */
  readonly isWhole: boolean;
  /** whether the name comes from its steps, and was not requested by the user */
  readonly isOfSteps: boolean;
  isFree(name: string): boolean;
  /** `short`: tried before the name with all steps */
  claim(short: Steps): void;
  claimAlone(): void;
}

/**
 * Gives names to values. Siblings that cannot all say everything come last. `chosen`: returns names of siblings that leave out the same
 * steps, in the order in which they are tried.
 */
export function claimValueNames(
  values: readonly ValueName[],
  chosen: (siblings: readonly ValueName[]) => readonly Steps[],
): void {
  const families = siblingsOf(
    values.filter(({ isOfSteps }) => isOfSteps),
    ({ steps }) => steps,
    ({ isAttribute }) => isAttribute,
  ).filter((family) => family.some(({ isWhole }) => !isWhole));
  const inFamilies = new Set(families.flat());
  for (const value of values) if (!inFamilies.has(value)) value.claimAlone();
  for (const family of families) {
    const names = chosen(family).find((tried) => family.every(({ isFree }, at) => isFree(tried[at]!)));
    for (const [at, value] of family.entries())
      if (names === undefined) value.claimAlone();
      else value.claim([names[at]!]);
  }
}

/** Returns names of siblings that all leave out the same steps, one set for each way by which all of them differ. */
export function alikeNames(
  siblings: readonly Steps[],
  choose: StepChooser,
  maxBytes: number,
  ways: readonly StayingSteps[],
): readonly Steps[] {
  return ways.flatMap((staying) => {
    const told = choose.tellAlike(siblings, maxBytes, staying);
    return told === null ? [] : [told.map(joinedSteps)];
  });
}
