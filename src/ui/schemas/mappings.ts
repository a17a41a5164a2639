/** Shows the source-to-target map line by line, with the figures of documents at each line. */
import type { MappingStatistics } from '../../catalog/mappings/statistics.ts';
import type { MappingRecord } from '../../ports/stores/catalog.ts';
import { getJson } from '../api/client.ts';
import { RefusedRequest } from '../api/refused.ts';
import { h, type Content } from '../parts/dom.ts';
import { count } from '../parts/format.ts';
import { searchedGrid } from '../parts/grid.ts';
import { empty } from '../parts/notices.ts';
import { linkTo } from '../shell/views.ts';
import { logicalQuery, type PartContext } from './part-context.ts';

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

export async function mappingsPart(context: PartContext): Promise<Content> {
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

export async function statisticsPart(context: PartContext): Promise<Content> {
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
