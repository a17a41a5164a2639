/** Shows the tables of a logical schema, each with its columns: types, keys, sources of values, and their descriptions in the schema. */
import type { FeedLineage } from '../../service/catalog/lineage.ts';
import type { DiagramRecord } from '../../service/catalog/diagram.ts';
import type { MappingRecord } from '../../ports/stores/catalog.ts';
import { getJson, type PageOf, type ShownJob } from '../shell/client.ts';
import { jobRowsLink } from '../jobs/listing.ts';
import { searchField, showCurrent, fill, h, type Content, counted, empty } from '../parts/controls.ts';
import { grid } from '../parts/grid.ts';
import { linkTo } from '../shell/views.ts';
import { logicalQuery, type PartContext } from './part-context.ts';

type DrawnColumn = DiagramRecord['tables'][number]['columns'][number];

interface TableParts {
  readonly name: string;
  readonly columns: readonly DrawnColumn[];
  /** the line of the table itself, if it has one */
  readonly own: MappingRecord | null;
  readonly byColumn: ReadonlyMap<string, MappingRecord>;
}

export async function tablesPart(context: PartContext): Promise<Content> {
  const { schema, idLschma, rest, signal } = context;
  const [mappings, diagram] = await Promise.all([
    getJson<readonly MappingRecord[]>(`v2/mapping/get/${schema.id_sch}${logicalQuery(context)}`, signal),
    getJson<DiagramRecord>(`v2/diagram/get/${schema.id_sch}${logicalQuery(context)}`, signal),
  ]);
  const tables = partsOf(mappings, diagram);
  if (tables.length === 0) return empty('This schema has no tables.');
  const chosen = tables.find(({ name }) => name === rest[0]) ?? tables[0]!;
  const list = h(
    'ul',
    {},
    tables.map((table) =>
      h(
        'li',
        {},
        h(
          'a',
          {
            href: linkTo(['schemas', schema.id_sch, 'tables', table.name], { l: idLschma }),
            'aria-current': table === chosen ? 'true' : null,
          },
          table.name,
        ),
      ),
    ),
  );
  const items = [...list.children] as HTMLElement[];
  const search = searchField(`Search ${counted(tables.length, 'table')}`, (text) => {
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
  });
  const rows = h('span');
  const columns = h('div', {}, tableColumns(chosen, diagram, context, new Map(), rows));
  void addLineage();
  void addRows();
  requestAnimationFrame(() => showCurrent(list));
  return h(
    'div',
    { class: 'split' },
    h('nav', { class: 'side', 'aria-label': 'Tables' }, search, list),
    columns,
  );

  /** Leads to the rows of the last load by these tables; a key without the scope for jobs does not see it. */
  async function addRows(): Promise<void> {
    const search = new URLSearchParams({ cfxml: schema.name, status: 'C', job_type: 'Parse', size: '100' });
    const { content } = await getJson<PageOf<ShownJob>>(
      `v2/executions/all?${search.toString()}`,
      signal,
    ).catch(() => ({ content: [] }));
    const last = content.find(
      (job) =>
        job.id_sch === schema.id_sch &&
        (idLschma === null || job.id_lschma === idLschma) &&
        jobRowsLink(job) !== null,
    );
    if (last === undefined || signal.aborted) return;
    const link = jobRowsLink(last, chosen.name)!;
    fill(rows, h('a', { href: link }, `Show the rows in ${last.parm_path_output}`));
  }

  /** The catalogue describes the conversion of values only for the newest tables, and for keys that may see jobs. */
  async function addLineage(): Promise<void> {
    if (idLschma !== null) return;
    const path = `v2/extensions/cil/lineage/${encodeURIComponent(schema.name)}/${encodeURIComponent(chosen.name)}`;
    const lines = await getJson<readonly FeedLineage[]>(path, signal).catch(() => []);
    if (signal.aborted || lines.length === 0) return;
    const conversions = new Map(lines.map((line) => [line.target_column, line.transformation]));
    fill(columns, tableColumns(chosen, diagram, context, conversions, rows));
  }
}

/** Columns come from the diagram, which has those without a source, too, in the order of the table. */
function partsOf(mappings: readonly MappingRecord[], { tables }: DiagramRecord): TableParts[] {
  const ofTable = Map.groupBy(mappings, (line) => line.table_name);
  return tables.map(({ name, columns }) => {
    const lines = ofTable.get(name) ?? [];
    return {
      name,
      columns,
      own: lines.find(({ column_name: column }) => column === null) ?? null,
      byColumn: new Map(
        lines.flatMap((line) => (line.column_name === null ? [] : [[line.column_name, line] as const])),
      ),
    };
  });
}

function tableColumns(
  { name, columns, own, byColumn }: TableParts,
  { relations }: DiagramRecord,
  { schema, idLschma }: PartContext,
  conversions: ReadonlyMap<string, string>,
  rows: HTMLElement,
): Content {
  const link = (table: string): HTMLElement =>
    h('a', { href: linkTo(['schemas', schema.id_sch, 'tables', table], { l: idLschma }) }, table);
  const parents = new Map(
    relations.flatMap((one) =>
      one.from_table === name ? one.from_columns.map((column) => [column, one.to_table] as const) : [],
    ),
  );
  const children = [
    ...new Set(relations.filter(({ to_table: to }) => to === name).map(({ from_table: from }) => from)),
  ];
  const meaningOf = (column: string): string => byColumn.get(column)?.documentation ?? '';
  const keyOf = (column: DrawnColumn): Content => {
    const parent = parents.get(column.name);
    if (parent !== undefined) return [column.key === 'PK' ? 'PK, FK → ' : 'FK → ', link(parent)];
    return column.key ?? '';
  };
  return [
    h(
      'div',
      { class: 'heading' },
      h('h2', {}, name),
      h(
        'div',
        { class: 'row wrap' },
        rows,
        h(
          'a',
          { href: linkTo(['schemas', schema.id_sch, 'diagram'], { l: idLschma, table: name }) },
          'Show in the diagram',
        ),
      ),
    ),
    own?.xpath == null ? null : h('p', {}, h('code', {}, own.xpath)),
    own?.documentation == null ? null : h('p', { class: 'documentation' }, own.documentation),
    children.length === 0 ? null : h('p', { class: 'row wrap' }, 'Below it: ', children.map(link)),
    grid(
      `Columns of ${name}`,
      [
        { label: 'Column', cell: (column) => h('strong', {}, column.name) },
        { label: 'Type', cell: (column) => h('code', {}, column.data_type) },
        {
          label: 'Null',
          cell: (column) =>
            byColumn.get(column.name)?.nullable === false || column.key === 'PK' ? 'no' : 'yes',
        },
        { label: 'Key', cell: keyOf },
        {
          label: 'From',
          cell: (column) => {
            const line = byColumn.get(column.name);
            const conversion = conversions.get(column.name);
            return [
              line?.xpath == null
                ? h('span', { class: 'hint' }, column.key === null ? 'of the load' : 'a key')
                : h('code', {}, line.xpath),
              conversion === undefined || line?.xpath == null
                ? null
                : h('div', { class: 'hint' }, conversion),
              line?.active === false ? h('div', { class: 'hint' }, 'switched off') : null,
            ];
          },
          class: 'wide',
        },
        ...(columns.some(({ name: column }) => meaningOf(column) !== '')
          ? [
              {
                label: 'Meaning',
                cell: (column: DrawnColumn) => meaningOf(column.name),
                class: 'wide documentation',
              },
            ]
          : []),
      ],
      columns,
    ),
  ];
}
