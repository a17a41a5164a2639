/** Selects the tables that represent the subjects of a business: repeating rows with many values or with much content below them. */
import { mapInSlices } from '../in-slices.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { rowTables } from '../model/wide-rows.ts';
import type { ViewContent, ViewContents } from './entity-columns.ts';

/** the least share of the root's columns that must be below a row, or of the richest row's columns that a row must have */
const leastShare = { below: 0.1, alone: 0.25, inRow: 0.1 } as const;
const leastColumns = 2;
const fewestAlternatives = 2;
const mostEntities = 40;
/** most additional tables with a view, chosen for the references in their rows */
const mostReferring = 40;

/**
 * Returns the alternative tables for a row (the resource in an entry of FHIR's Bundle). Each has many more columns than the row itself.
 * They repeat as entities instead of that row.
 */
function alternatives(contents: ViewContents, own: readonly number[], table: number): readonly number[] {
  const tables = new Set<number>();
  const open = [table];
  for (const at of open)
    for (const { single, table: other } of contents.content(at).hanging) {
      if (!single || tables.has(other) || open.includes(other)) continue;
      // rows that say nothing are on the way
      if (own[other] === 0) open.push(other);
      else if (own[other]! > own[table]! * 2) tables.add(other);
    }
  return tables.size >= fewestAlternatives ? [...tables] : [];
}

/**
 * Returns the entities in the order of the tables. A table with at most one row for each row above is part of that row. A repeating table
 * is an entity if at least a tenth of all columns of a document are below it, if its rows have at least a quarter of the columns of the
 * richest ones, or if they wrap the subject of other rows. Rows of root elements repeat from document to document. Repeating tables that
 * refer to others by ids come after the entities, those with most references first. `has`: true for existing tables.
 */
export async function businessEntities(
  model: RelationalModel,
  contents: ViewContents,
  has: (table: number) => boolean,
): Promise<readonly ViewContent[]> {
  const roots = new Set(model.roots.map(({ node }) => model.nodes[node]!.table));
  const own = await mapInSlices(model.tables, (table, index) =>
    table.continues === undefined && table.kind === 'element' && has(index)
      ? contents.content(index).values.length
      : 0,
  );
  const repeating = new Set(roots);
  const below = [...own];
  await mapInSlices(own.toReversed(), (_, fromEnd) => {
    const table = own.length - 1 - fromEnd;
    if (model.tables[table]!.continues !== undefined || model.tables[table]!.kind !== 'element') return;
    for (const rows of contents.content(table).hanging) {
      if (!rows.single) repeating.add(rows.table);
      // a reference back to a table above is counted at the table's first place
      if (rows.table > table && has(rows.table)) below[table]! += below[rows.table]!;
    }
  });
  for (const table of repeating) {
    if (roots.has(table)) continue;
    for (const one of alternatives(contents, own, table)) if (has(one)) repeating.add(one);
  }
  const whole = Math.max(...[...roots].map((root) => below[root] ?? 0), 1);
  const candidates = [...repeating]
    .filter((table) => (own[table]! > 0 || contents.isWrapper(table)) && rowTables(model, table).every(has))
    .toSorted((a, b) => a - b);
  const views = await mapInSlices(candidates, (table) => contents.of(table));
  const richest = Math.max(...views.map(({ weight }) => weight), 1);
  const wrappers = new Set(views.filter(({ table }) => contents.isWrapper(table)));
  const entities = views
    .filter(
      (view) =>
        wrappers.has(view) ||
        (view.weight >= leastColumns &&
          view.weight >= richest * leastShare.inRow &&
          (below[view.table]! >= whole * leastShare.below || view.weight >= richest * leastShare.alone)),
    )
    .toSorted((a, b) => Number(wrappers.has(b)) - Number(wrappers.has(a)) || b.weight - a.weight)
    .slice(0, mostEntities);
  const chosen = new Set(entities);
  const referring = views
    .filter((view) => view.references > 0 && !chosen.has(view))
    .toSorted((a, b) => b.references - a.references || b.weight - a.weight)
    .slice(0, mostReferring);
  return [...entities, ...referring].toSorted((a, b) => a.table - b.table);
}
