/** Names of tables, of their continuations, and of the tables for items of lists in databases without arrays. */
import { listTablePath } from '../../model/column-uses.ts';
import { hasOwnPrefix, sideTableNames } from '../../model/side-tables.ts';
import { columnPath, type TableDraft } from '../tables/model-builder.ts';
import { createStepChooser } from './distinctive-steps.ts';
import type { NamespaceWordChooser, NamespaceWord } from './words.ts';
import { byteLength, joinedSteps, NameScope, type Identifiers, type NamingOptions } from './identifiers.ts';
import type { PreviousNames } from './history.ts';
import { unreservedTable } from './reserved-names.ts';
import type { Roles } from './type-names.ts';

/**
 * Names of tables longer than this say less of the path, as long as the rest distinguishes the table from all others. Keys are named after
 * tables.
 */
const maxReadable = 36;

export interface TableNaming {
  readonly naming: NamingOptions;
  readonly identifiers: Identifiers;
  readonly previous: PreviousNames;
  readonly roles: Roles;
  readonly chooseNamespaceWords: NamespaceWordChooser;
}

/**
 * Names tables after their elements. If several tables would have the same name, each gets as many steps of its path as distinguish it. A
 * table that several places share keeps the name, because no path says more, and the others get other names. Elements of several namespaces
 * are distinguished by their namespaces first. A name that is too long loses its role if no other element of the set is of its kind.
 */
export function nameTables(
  tables: readonly TableDraft[],
  { naming, identifiers, previous, roles, chooseNamespaceWords }: TableNaming,
): void {
  const kept = new Map<TableDraft, string>();
  for (const table of tables) {
    const name = previous.table(table.usePath);
    if (name !== undefined) kept.set(table, name);
  }
  const given = new Set([...kept.values()].map((name) => name.toLowerCase()));
  const isTaken = (name: string, table: TableDraft): boolean => {
    const meaning = previous.tableMeanings.get(name);
    return given.has(name) || (meaning !== undefined && meaning !== table.usePath);
  };
  // tables that keep a name count as well, because new names must differ from theirs
  const elements = tables.filter((table) => table.kind === 'element');
  const steps = new Map(elements.map((table) => [table, 0]));
  const namespaces = new Map<TableDraft, NamespaceWord>();
  const ownStep = (table: TableDraft): string => {
    const own = identifiers(table.ownName ?? table.path.at(-1)!);
    const namespace = namespaces.get(table);
    if (namespace === undefined) return own;
    return namespace.isPrefix ? `${namespace.word}_${own}` : `${own}_${namespace.word}`;
  };
  const stepsOf = (table: TableDraft, ancestors: number): string[] => {
    const before = table.path.slice(Math.max(0, table.path.length - 1 - ancestors), table.path.length - 1);
    return [...before.map(identifiers), ownStep(table)];
  };
  const candidate = (table: TableDraft, ancestors: number): string =>
    naming.tablePrefix + stepsOf(table, ancestors).join('_') + naming.tableSuffix;
  for (let again = true; again;) {
    again = false;
    const byName = Map.groupBy(elements, (table) => candidate(table, steps.get(table)!).toLowerCase());
    for (const [name, group] of byName) {
      const free = group.filter((table) => !isTaken(name, table));
      if (group.length < 2 && free.length > 0) continue;
      const shared = free.filter((table) => table.shared);
      const before = free.find((table) => previous.tableMeanings.get(name) === table.usePath);
      const keeps = before ?? (shared.length === 1 ? shared[0] : undefined);
      const told = [...chooseNamespaceWords(group)].filter(
        ([table]) => table !== keeps && !namespaces.has(table),
      );
      for (const [table, namespace] of told) namespaces.set(table, namespace);
      if (told.length > 0) {
        again = true;
        continue;
      }
      for (const table of group) {
        if (table === keeps || steps.get(table)! >= table.path.length - 1) continue;
        steps.set(table, steps.get(table)! + 1);
        again = true;
      }
    }
  }
  const scope = tableScope(naming, previous);
  const settle = (table: TableDraft, name: string, parts: readonly string[]): void => {
    const wanted = naming.rename.get(name) ?? name;
    table.name = scope.claimName([wanted, `${wanted}_2`, `${wanted}_3`], `${table.xpath}#${table.kind}`, {
      meaning: table.usePath,
      steps: parts,
    });
  };
  for (const [table, name] of kept)
    table.name = scope.keep(name, `${table.xpath}#${table.kind}`, { meaning: table.usePath });
  const choose = createStepChooser({
    paths: () => elements.map((table) => stepsOf(table, table.path.length - 1)),
  });
  const called = new Set(elements.map((table) => candidate(table, steps.get(table)!).toLowerCase()));
  for (const table of elements.filter((one) => !kept.has(one))) {
    const said = stepsOf(table, steps.get(table)!);
    const whole = said.join('_');
    const isLong = byteLength(whole) > maxReadable;
    const name = isLong ? joinedSteps(choose.tellApart(said, maxReadable, { fewest: 2, last: 1 })) : whole;
    const kind = isLong && said.length === 1 ? roles.soleKind(whole) : undefined;
    const short = kind === undefined ? null : naming.tablePrefix + kind + naming.tableSuffix;
    const isSole = short !== null && !called.has(short.toLowerCase()) && scope.isFree(short, table.usePath);
    settle(table, isSole ? short : naming.tablePrefix + name + naming.tableSuffix, said);
  }
  for (const table of tables) {
    if (table.kind === 'element' || kept.has(table)) continue;
    const owner = table.columns.find((column) => column.role === 'parent_key')!.parent!;
    const words = table.path.slice(owner.path.length).map(identifiers);
    settle(table, [owner.name, ...words].join('_'), [owner.name, ...words]);
  }
}

/** Returns a scope in which the names of side tables, and of tables that loads make temporarily, are taken. */
function tableScope({ maxBytes }: NamingOptions, { tableMeanings }: PreviousNames): NameScope {
  const scope = new NameScope(maxBytes, tableMeanings, hasOwnPrefix, (name) =>
    unreservedTable(name, { maxBytes }),
  );
  for (const name of Object.values(sideTableNames)) scope.claimName([name], name);
  return scope;
}

/** Names continuations `order_2`, `order_3`: the name of the first table and the number of the part. */
export function nameContinuations(
  tables: readonly TableDraft[],
  naming: NamingOptions,
  previous: PreviousNames,
): void {
  const scope = tableScope(naming, previous);
  for (const table of tables) {
    table.parts[0]!.name = table.name;
    scope.keep(table.name, table.xpath, { meaning: table.usePath });
  }
  const later = tables.flatMap((table) => table.parts.slice(1).map((part) => ({ table, part })));
  const known = later.map(({ table, part }) => previous.continuation(table.usePath, part.number));
  for (const [at, { table, part }] of later.entries())
    if (known[at] !== undefined) {
      const path = `${table.xpath}#${part.number}`;
      part.name = scope.keep(known[at], path, { meaning: table.usePath });
    }
  for (const { table, part } of later) {
    if (part.name !== '') continue;
    const name = `${table.name}_${part.number + 1}`;
    part.name = scope.claimName([naming.rename.get(name) ?? name], `${table.xpath}#${part.number}`, {
      meaning: table.usePath,
    });
  }
  nameListTables(tables, scope, naming, previous);
}

/** Names tables of lists `order_codes`: the table and the column, within the limits of the table's suffix. */
function nameListTables(
  tables: readonly TableDraft[],
  scope: NameScope,
  { tableSuffix }: NamingOptions,
  previous: PreviousNames,
): void {
  for (const table of tables) {
    for (const part of table.parts) {
      const isSuffixed = tableSuffix !== '' && part.name.endsWith(tableSuffix);
      const base = isSuffixed ? part.name.slice(0, -tableSuffix.length) : part.name;
      for (const column of part.columns) {
        if (column.listNames === null) continue;
        const meaning = listTablePath(columnPath(column, table));
        const wanted = `${base}_${column.name}`;
        const names = [wanted, `${wanted}_2`, `${wanted}_3`].map((name) => name + tableSuffix);
        const known = previous.table(meaning);
        column.listNames = {
          ...column.listNames,
          table: scope.claimName(known === undefined ? names : [known, ...names], meaning, { meaning }),
        };
      }
    }
  }
}
