/** The view of one schema: its versions and logical schemas to choose from, and a part for each aspect of it. */
import type { OriginRecord, MappingRecord } from '../../ports/stores/catalog.ts';
import { type ShownJob, getJson, type PageOf, call, readChoices, RefusedRequest } from '../shell/client.ts';
import { diagramPart } from '../diagram/view.ts';
import {
  selectOf,
  tabBar,
  fill,
  h,
  type Content,
  failureBox,
  fillLater,
  actionButton,
  codeBlock,
  saveFile,
  count,
  empty,
  bytes,
  moment,
} from '../parts/controls.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { comparisonPart } from './comparison.ts';
import { tablesPart } from './tables.ts';
import { type PartContext, logicalQuery } from './part-context.ts';
import type { MappingStatistics } from '../../service/catalog/mapping-statistics.ts';
import { searchedGrid, grid } from '../parts/grid.ts';
import { sourceWord } from './listing.ts';

const parts: Readonly<
  Record<string, { readonly label: string; readonly content: (context: PartContext) => Promise<Content> }>
> = {
  overview: { label: 'Overview', content: overviewPart },
  tables: { label: 'Tables', content: tablesPart },
  diagram: { label: 'Diagram', content: diagramPart },
  mappings: { label: 'Mappings', content: mappingsPart },
  statistics: { label: 'Statistics', content: statisticsPart },
  ddl: { label: 'DDL', content: ddlPart },
  compare: { label: 'Compare', content: comparisonPart },
};

export async function schemaView({ main, signal, path, query, title }: ViewContext): Promise<void> {
  const [, idText = '', partName = 'overview', ...rest] = path;
  const idLschma = Number(query.get('l')) || null;
  const chosen = idLschma === null ? '' : `?id_lschma=${idLschma}`;
  title(`Schema ${idText}`);
  const id = encodeURIComponent(idText);
  const [schema, family] = await Promise.all([
    getJson<OriginRecord>(`v2/schema/${id}${chosen}`, signal),
    getJson<readonly OriginRecord[]>(`v2/schema/family/${id}`, signal),
  ]);
  if (signal.aborted) return;
  const part = parts[partName] ?? parts['overview']!;
  title(`${schema.name}: ${part.label}`);
  const partElement = h('div', { class: 'part' });
  const logical = h('span');
  fill(
    main,
    h('nav', { class: 'trail', 'aria-label': 'Trail' }, h('a', { href: linkTo(['schemas']) }, 'Schemas')),
    h(
      'div',
      { class: 'heading' },
      h('h1', {}, schema.name),
      h('div', { class: 'row' }, versionChoice(), logical),
    ),
    tabBar(
      `Parts of ${schema.name}`,
      Object.entries(parts).map(([name, { label }]) => ({
        label,
        href: linkTo(['schemas', schema.id_sch, name], { l: idLschma }),
        isCurrent: parts[name] === part,
      })),
    ),
    partElement,
  );
  void showLogicalSchemas();
  try {
    await fillLater(partElement, signal, () =>
      part.content({ schema, family, idLschma, rest, query, signal }),
    );
  } catch (error) {
    if (!signal.aborted) fill(partElement, failureBox(error));
  }

  function versionChoice(): HTMLElement | null {
    if (family.length < 2)
      return h('span', { class: 'hint' }, `version ${schema.version}, id ${schema.id_sch}`);
    const choices = family.map(({ id_sch: value, version }) => ({
      value: String(value),
      label: `version ${version}, id ${value}`,
    }));
    return selectOf(
      'Version',
      choices,
      String(schema.id_sch),
      (value) => (location.hash = linkTo(['schemas', value, partName])),
    ).field;
  }

  /** The interface lists no logical schemas: those that jobs loaded by are known from these. */
  async function showLogicalSchemas(): Promise<void> {
    const ids = await usedLogicalSchemas(schema.id_sch, signal).catch(() => new Set<number>());
    for (const one of [schema.id_lschma, idLschma]) if (one !== null) ids.add(one);
    if (signal.aborted || ids.size < 2) return;
    const choices = [
      { value: '', label: 'newest tables' },
      ...[...ids]
        .toSorted((a, b) => b - a)
        .map((value) => ({ value: String(value), label: `logical schema ${value}` })),
    ];
    fill(
      logical,
      selectOf(
        'Tables',
        choices,
        String(idLschma ?? ''),
        (value) => (location.hash = linkTo(['schemas', schema.id_sch, partName], { l: value || null })),
      ).field,
    );
  }
}

async function usedLogicalSchemas(idSch: number, signal: AbortSignal): Promise<Set<number>> {
  const { content } = await getJson<PageOf<ShownJob>>('v2/executions/all?size=500', signal);
  return new Set(
    content.flatMap((job) => (job.id_sch === idSch && job.id_lschma !== null ? [job.id_lschma] : [])),
  );
}

// The DDL of a logical schema in any dialect.

async function ddlPart(context: PartContext): Promise<Content> {
  const { schema, signal } = context;
  const { dialects } = await readChoices(signal);
  const text = h('div');
  let { name: dialect } = dialects[0]!;
  const titleOf = (name: string): string => dialects.find((one) => one.name === name)?.title ?? name;
  let current = '';
  const show = (): void => {
    const asked = dialect;
    void fillLater(text, signal, async () => {
      const path = `v2/schema/ddl/${schema.id_sch}${logicalQuery(context, { dialect: asked })}`;
      const ddl = await (await call(path, { accept: 'text/plain', signal })).text();
      if (asked === dialect) current = ddl;
      return codeBlock(`DDL for ${titleOf(dialect)}`, current);
    });
  };
  show();
  const choice = selectOf(
    'Dialect',
    dialects.map(({ name, title }) => ({ value: name, label: title })),
    dialect,
    (value) => {
      dialect = value;
      show();
    },
  );
  return [
    h(
      'div',
      { class: 'bar' },
      choice.field,
      actionButton('Download', async () =>
        saveFile(`${schema.name}.${dialect}.sql`, new Blob([current], { type: 'text/plain' })),
      ),
    ),
    text,
  ];
}

// Shows the source-to-target map line by line, with the figures of documents at each line.

interface MapLine {
  readonly table_name: string;
  readonly column_name: string | null;
}

function targetOf({ schema, idLschma }: PartContext): (line: MapLine) => Content {
  return ({ table_name: table, column_name: column }) => [
    h('a', { href: linkTo(['schemas', schema.id_sch, 'tables', table], { l: idLschma }) }, table),
    column === null ? null : `.${column}`,
  ];
}

function range(min: number, max: number | null): string {
  return min === max ? String(min) : `${count(min)}–${max === null ? '∞' : count(max)}`;
}

async function mappingsPart(context: PartContext): Promise<Content> {
  const { schema, signal } = context;
  const lines = await getJson<readonly MappingRecord[]>(
    `v2/mapping/get/${schema.id_sch}${logicalQuery(context)}`,
    signal,
  );
  return searchedGrid(
    'Mappings',
    [
      {
        label: 'Path',
        cell: (line) =>
          line.xpath === null ? h('span', { class: 'hint' }, 'no source') : h('code', {}, line.xpath),
        class: 'wide',
      },
      {
        label: 'Source type',
        cell: (line) => [
          line.source_type,
          line.node_type === null ? null : h('div', { class: 'hint' }, line.node_type),
        ],
      },
      { label: 'Occurs', cell: (line) => range(line.min_occurs, line.max_occurs), number: true },
      { label: 'Target', cell: targetOf(context) },
      { label: 'Type', cell: (line) => (line.data_type === null ? '' : h('code', {}, line.data_type)) },
      { label: 'Null', cell: (line) => (line.nullable ? 'yes' : 'no') },
      { label: 'Key', cell: (line) => line.key ?? '' },
      { label: 'On', cell: (line) => (line.active ? 'yes' : 'no') },
    ],
    lines,
    (line) =>
      `${line.xpath ?? ''} ${line.table_name}.${line.column_name ?? ''} ${line.source_type} ${line.data_type ?? ''}`,
  );
}

async function statisticsPart(context: PartContext): Promise<Content> {
  const { schema, signal } = context;
  const path = `v2/mapping/get_stats/${schema.id_sch}${logicalQuery(context)}`;
  const lines = await getJson<readonly MappingStatistics[]>(path, signal).catch((error: unknown) => {
    if (error instanceof RefusedRequest && error.status === 404) return [];
    throw error;
  });
  if (lines.every(({ documents }) => documents === 0))
    return empty(
      h('p', {}, h('strong', {}, 'No statistics yet.')),
      h('p', {}, 'They come with the first documents that are loaded, or read with -e s.'),
    );
  return searchedGrid(
    'Statistics',
    [
      { label: 'Path', cell: (line) => h('code', {}, line.xpath), class: 'wide' },
      { label: 'Target', cell: targetOf(context) },
      { label: 'Documents', cell: (line) => count(line.documents), number: true },
      { label: 'Occurrences', cell: (line) => count(line.occurrences), number: true },
      { label: 'Per parent', cell: (line) => range(line.min_occurs, line.max_occurs), number: true },
      { label: 'Characters', cell: (line) => range(line.min_length, line.max_length), number: true },
      { label: 'Looks like', cell: (line) => line.inferred_type },
      { label: 'Distinct', cell: (line) => count(line.distinct_estimate), number: true },
      { label: 'Least', cell: (line) => h('span', { class: 'path' }, line.min_value) },
      { label: 'Greatest', cell: (line) => h('span', { class: 'path' }, line.max_value) },
    ],
    lines,
    (line) => `${line.xpath} ${line.table_name}.${line.column_name ?? ''} ${line.inferred_type}`,
  );
}

// Shows the sources of a schema, and its downloads.

interface Download {
  readonly label: string;
  readonly file: string;
  readonly path: string;
  readonly accept: string;
}

/** The formats for other tools: format, label, file name suffix, media type. */
const metadataFormats = [
  ['dbt', 'dbt project, zip', '-dbt.zip', 'application/zip'],
  ['odcs', 'Data contract, yaml', '.odcs.yaml', 'application/yaml'],
  ['mermaid', 'Diagram, mermaid', '.mmd', 'text/plain'],
  ['dbml', 'Diagram, dbml', '.dbml', 'text/plain'],
  ['frictionless', 'Data package, json', '.datapackage.json', 'application/json'],
  ['jsonschema', 'JSON Schema', '.schema.json', 'application/json'],
  ['avro', 'Avro schemas', '.avsc', 'application/json'],
] as const;

async function overviewPart(context: PartContext): Promise<Content> {
  const { schema, family } = context;
  const facts: readonly [string, Content][] = [
    ['Made', moment(schema.created)],
    ['From', sourceWord(schema)],
    [
      'By job',
      schema.id_job === null ? null : h('a', { href: linkTo(['jobs', schema.id_job]) }, `#${schema.id_job}`),
    ],
    ['Root elements', h('span', { class: 'path' }, schema.root_elements.join(', '))],
    [
      'Target namespace',
      schema.target_namespace === null ? null : h('span', { class: 'path' }, schema.target_namespace),
    ],
    ['Tables', count(schema.table_count)],
    ['Mappings', count(schema.mapping_count)],
    ['Map level', schema.map_level],
    ['Longest name', `${schema.max_length} bytes`],
  ];
  return [
    h(
      'dl',
      { class: 'facts' },
      facts
        .filter(([, value]) => value !== null)
        .map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
    ),
    downloads(context),
    family.length < 2
      ? null
      : h(
          'section',
          { 'aria-label': 'Versions' },
          h('h2', {}, 'Versions'),
          grid(
            'Versions',
            [
              {
                label: 'Version',
                cell: (one) => h('a', { href: linkTo(['schemas', one.id_sch]) }, `version ${one.version}`),
              },
              { label: 'Id', cell: (one) => one.id_sch, number: true },
              { label: 'Tables', cell: (one) => count(one.table_count), number: true },
              { label: 'Made', cell: (one) => moment(one.created) },
              {
                label: 'Compared',
                cell: (one) =>
                  one.id_sch === schema.id_sch
                    ? 'this one'
                    : h(
                        'a',
                        { href: linkTo(['schemas', schema.id_sch, 'compare'], { from: one.id_sch }) },
                        'with this one',
                      ),
              },
            ],
            family,
          ),
        ),
    schema.files.length === 0
      ? null
      : h(
          'section',
          { 'aria-label': 'Files' },
          h('h2', {}, 'Files'),
          grid(
            'Files of the schema',
            [
              { label: 'File', cell: (file) => h('span', { class: 'path' }, file.name), class: 'wide' },
              { label: 'Size', cell: (file) => bytes(file.bytes), number: true },
              {
                label: 'SHA-256',
                cell: (file) => h('code', { title: file.sha256 }, `${file.sha256.slice(0, 12)}…`),
              },
            ],
            schema.files,
          ),
        ),
  ];
}

function downloads(context: PartContext): HTMLElement {
  const { id_sch: id, name } = context.schema;
  const map = (format: string, accept: string): Download => ({
    label: `Mappings, ${format}`,
    file: `${name}-mapping.${format}`,
    path: `v2/mapping/download/${id}${logicalQuery(context, { format })}`,
    accept,
  });
  const all: readonly Download[] = [
    {
      label: 'DDL, sql',
      file: `${name}.sql`,
      path: `v2/schema/ddl/${id}${logicalQuery(context)}`,
      accept: 'text/plain',
    },
    {
      label: 'Diagram, svg',
      file: `${name}.svg`,
      path: `v2/diagram/get/${id}${logicalQuery(context)}`,
      accept: 'image/svg+xml',
    },
    map('xlsx', 'application/octet-stream'),
    map('csv', 'text/csv, application/octet-stream'),
    map('json', 'application/json'),
    ...metadataFormats.map(([format, label, ending, accept]): Download => ({
      label,
      file: `${name}${ending}`,
      path: `v2/schema/export_as/${id}${logicalQuery(context, { format })}`,
      accept,
    })),
  ];
  const says = h('div');
  const save = async ({ file, path, accept }: Download): Promise<void> => {
    fill(says);
    try {
      saveFile(
        file.replaceAll('/', '_'),
        await (await call(path, { accept, signal: context.signal })).blob(),
      );
    } catch (error) {
      fill(says, failureBox(error));
    }
  };
  return h(
    'section',
    { 'aria-label': 'Downloads' },
    h('h2', {}, 'Downloads'),
    h(
      'div',
      { class: 'row wrap' },
      all.map((one) => actionButton(one.label, () => save(one))),
    ),
    says,
  );
}
