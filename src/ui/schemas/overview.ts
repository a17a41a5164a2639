/** Shows the sources of a schema, and its downloads. */
import { call } from '../api/client.ts';
import { actionButton, saveFile } from '../parts/controls.ts';
import { fill, h, type Content } from '../parts/dom.ts';
import { bytes, count, moment } from '../parts/format.ts';
import { grid } from '../parts/grid.ts';
import { failureBox } from '../parts/notices.ts';
import { linkTo } from '../shell/views.ts';
import { logicalQuery, type PartContext } from './part-context.ts';
import { sourceWord } from './listing.ts';

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

export async function overviewPart(context: PartContext): Promise<Content> {
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
