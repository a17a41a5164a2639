/** The columns of a table in a target: types, XPaths, and sample values. */
import { getJson } from '../shell/client.ts';
import { fillLater, h, type Content } from '../parts/controls.ts';
import { grid } from '../parts/grid.ts';
import { valueText, type ShownValue } from '../parts/value-grid.ts';
import { firstPath, type TablePage } from './table-rows.ts';
import type { TargetContext, ShownTable } from './target-context.ts';

/** rows that samples are taken from */
const sampled = 100;
const samples = 3;
const sampleCharacters = 60;

export function columnsPart({ target, signal }: TargetContext, table: ShownTable): Content {
  const content = h('div');
  void fillLater(content, signal, async () => {
    const { columns, content: rows } = await getJson<TablePage>(
      firstPath(target, table.name, sampled),
      signal,
    );
    const known = new Map(table.columns.map((column) => [column.name, column]));
    return [
      grid(
        `Columns of ${table.name}`,
        [
          { label: 'Column', cell: ({ name }) => h('strong', {}, name) },
          { label: 'Type', cell: ({ type }) => h('code', {}, type) },
          {
            label: 'From',
            cell: ({ name }) => {
              const column = known.get(name);
              if (column?.xpath != null) return h('code', {}, column.xpath);
              if (column === undefined && table.columns.length === 0) return '—';
              return h('span', { class: 'hint' }, column?.key == null ? 'of the load' : 'a key');
            },
            class: 'wide',
          },
          {
            label: 'Sample values',
            cell: ({ at }) => sampleList(rows.map((row) => row[at] ?? null)),
            class: 'wide',
          },
          ...(table.columns.some(({ documentation }) => documentation !== null)
            ? [
                {
                  label: 'Meaning',
                  cell: ({ name }: { readonly name: string }) => known.get(name)?.documentation ?? '',
                  class: 'wide documentation',
                },
              ]
            : []),
        ],
        columns.map((column, at) => ({ ...column, at })),
      ),
      h('p', { class: 'hint' }, `Sample values are from the first ${sampled} rows.`),
    ];
  });
  return content;
}

function sampleList(values: readonly ShownValue[]): Content {
  const texts = [...new Set(values.filter((value) => value !== null).map(valueText))].slice(0, samples);
  if (texts.length === 0) return h('span', { class: 'null' }, values.length === 0 ? 'no rows' : 'NULL');
  return h(
    'ul',
    { class: 'samples' },
    texts.map((text) =>
      h('li', {}, text.length > sampleCharacters ? `${text.slice(0, sampleCharacters)}…` : text),
    ),
  );
}
