/** The rows of one target: its tables, their columns, and a box for statements. */
import type { MappingRecord } from '../../ports/stores/catalog.ts';
import type { DiagramRecord } from '../../service/catalog/diagram.ts';
import { getJson, RefusedRequest, type ShownJob } from '../shell/client.ts';
import {
  counted,
  empty,
  failureBox,
  fill,
  fillLater,
  h,
  notice,
  searchField,
  showCurrent,
  tabBar,
  type Content,
} from '../parts/controls.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { columnsPart } from './columns.ts';
import { sqlPart } from './sql-box.ts';
import { sqlOf } from './statements.ts';
import type { TargetContext, ShownTable } from './target-context.ts';
import { rowsPart } from './table-rows.ts';
import { completedLoads, sqlNames } from './targets.ts';

const parts = { rows: 'Rows', columns: 'Columns', sql: 'SQL' } as const;

export async function rowsView({ main, signal, query, title }: ViewContext): Promise<void> {
  const target = query.get('target') ?? '';
  const sql = sqlOf(target);
  const name = query.get('part') ?? 'rows';
  const part = name in parts ? (name as keyof typeof parts) : 'rows';
  title(`${parts[part]} of ${target}`);
  const content = h('div');
  const facts = h('span', { class: 'hint' });
  fill(
    main,
    h('nav', { class: 'trail', 'aria-label': 'Trail' }, h('a', { href: linkTo(['rows']) }, 'Rows')),
    h('div', { class: 'heading' }, h('h1', { class: 'path-heading' }, target), facts),
    content,
  );
  if (sql === null) {
    fill(
      content,
      notice('bad', 'The service does not read this target. Query it with a program of its own.'),
    );
    return;
  }
  await fillLater(content, signal, async () => {
    const { tables, last, refusal } = await knownTables(target, Number(query.get('job')) || null, signal);
    fill(
      facts,
      sqlNames[sql],
      last === null
        ? null
        : [', last loaded by ', h('a', { href: linkTo(['jobs', last.id_job]) }, `job #${last.id_job}`)],
    );
    const context: TargetContext = { target, sql, tables, query, signal };
    return [
      tabBar(
        'Parts of the target',
        Object.entries(parts).map(([value, label]) => ({
          label,
          href: linkTo(['rows'], {
            target,
            table: query.get('table'),
            part: value === 'rows' ? null : value,
            job: query.get('job'),
          }),
          isCurrent: value === part,
        })),
      ),
      refusal === null ? null : failureBox(refusal),
      part === 'sql' ? sqlPart(context) : tablePart(context, part),
    ];
  });
}

function tablePart({ tables, query, ...context }: TargetContext, part: 'rows' | 'columns'): Content {
  const { target } = context;
  if (tables.length === 0)
    return empty(
      h('p', {}, h('strong', {}, 'No tables are known.')),
      h(
        'p',
        {},
        'No record of a job that loaded this target is kept. If the target exists, read it with SQL.',
      ),
      h('a', { class: 'button main', href: linkTo(['rows'], { target, part: 'sql' }) }, 'Open the SQL box'),
    );
  const chosen = chosenTable(tables, query.get('table'));
  const list = h(
    'ul',
    {},
    tables.map(({ name }) =>
      h(
        'li',
        {},
        h(
          'a',
          {
            href: linkTo(['rows'], {
              target,
              table: name,
              part: part === 'rows' ? null : part,
              job: query.get('job'),
            }),
            'aria-current': name === chosen.name ? 'true' : null,
          },
          name,
        ),
      ),
    ),
  );
  const items = [...list.children] as HTMLElement[];
  const search = searchField(`Search ${counted(tables.length, 'table')}`, (text) => {
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
  });
  requestAnimationFrame(() => showCurrent(list));
  const whole = { ...context, tables, query };
  return h(
    'div',
    { class: 'split' },
    h('nav', { class: 'side', 'aria-label': 'Tables' }, search, list),
    h(
      'div',
      {},
      h('div', { class: 'heading' }, h('h2', {}, chosen.name), schemaLink(chosen)),
      part === 'rows' ? rowsPart(whole, chosen) : columnsPart(whole, chosen),
    ),
  );
}

/** A view, which no schema has, is shown if the address names it. */
function chosenTable(tables: readonly ShownTable[], name: string | null): ShownTable {
  const known = tables.find((table) => table.name === name);
  return known ?? (name === null ? tables[0]! : { name, columns: [], schema: null });
}

function schemaLink({ name, schema }: ShownTable): Content {
  return schema === null
    ? null
    : h(
        'a',
        { href: linkTo(['schemas', schema.idSch, 'tables', name], { l: schema.idLschma }) },
        'Show in the schema',
      );
}

// The tables of a target are those of the schemas that jobs loaded it by.

/** tables of every database beside those of its schemas; folders have them only if they have rows */
const sideTables = ['_unmapped', '_lexical', '_loads'];

function hasSideTables(target: string): boolean {
  return /^(?:metadb|duckdb|sqlite):/.test(target);
}

/** schemas of one target that are read */
const mostSchemas = 5;

interface KnownTables {
  readonly tables: readonly ShownTable[];
  readonly last: ShownJob | null;
  /** why this key may not see the tables */
  readonly refusal: RefusedRequest | null;
}

/** the tables that were read last: the next table of the same target is shown without reading its schemas again */
let lastKnown: { readonly place: string; readonly at: number; readonly found: KnownTables } | null = null;
const freshMs = 30_000;
addEventListener('key-changed', () => (lastKnown = null));

async function knownTables(target: string, idJob: number | null, signal: AbortSignal): Promise<KnownTables> {
  const place = JSON.stringify([target, idJob]);
  if (lastKnown?.place === place && Date.now() - lastKnown.at < freshMs) return lastKnown.found;
  const found = await tablesOf(target, idJob, signal);
  lastKnown = { place, at: Date.now(), found };
  return found;
}

async function tablesOf(target: string, idJob: number | null, signal: AbortSignal): Promise<KnownTables> {
  let last: ShownJob | null = null;
  try {
    const { content } = await completedLoads(signal);
    const loads = content.filter((job) => job.parm_path_output === target);
    if (loads.length === 0 && idJob !== null)
      loads.push(await getJson<ShownJob>(`v2/executions/get/${idJob}`, signal));
    last = loads[0] ?? null;
    const schemas = new Map<number, number>();
    for (const { id_sch: idSch, id_lschma: idLschma } of loads)
      if (idSch !== null && idLschma !== null && schemas.size < mostSchemas) schemas.set(idLschma, idSch);
    const found = await Promise.all(
      [...schemas].map(async ([idLschma, idSch]) => await tablesOfSchema(idSch, idLschma, signal)),
    );
    const byName = new Map<string, ShownTable>();
    for (const table of found.flat()) if (!byName.has(table.name)) byName.set(table.name, table);
    if (byName.size > 0 && hasSideTables(target))
      for (const name of sideTables) byName.set(name, { name, columns: [], schema: null });
    return { tables: [...byName.values()], last, refusal: null };
  } catch (error) {
    // a key for rows alone can still use the SQL box
    if (error instanceof RefusedRequest && [403, 404].includes(error.status))
      return { tables: [], last, refusal: error };
    throw error;
  }
}

async function tablesOfSchema(
  idSch: number,
  idLschma: number,
  signal: AbortSignal,
): Promise<readonly ShownTable[]> {
  const [mappings, diagram] = await Promise.all([
    getJson<readonly MappingRecord[]>(`v2/mapping/get/${idSch}?id_lschma=${idLschma}`, signal),
    getJson<DiagramRecord>(`v2/diagram/get/${idSch}?id_lschma=${idLschma}`, signal),
  ]);
  const lines = new Map(mappings.map((line) => [JSON.stringify([line.table_name, line.column_name]), line]));
  return diagram.tables.map(({ name: table, columns }) => ({
    name: table,
    schema: { idSch, idLschma },
    columns: columns.map(({ name, data_type: type, key }) => {
      const line = lines.get(JSON.stringify([table, name]));
      return {
        name,
        type,
        key,
        xpath: line?.xpath ?? null,
        documentation: line?.documentation ?? null,
      };
    }),
  }));
}
