/** Compares two versions side by side: the content of only one of them, and the differences. */
import type { MappingComparison } from '../../service/catalog/comparison.ts';
import type { MappingRecord, OriginRecord } from '../../ports/stores/catalog.ts';
import { getJson } from '../shell/client.ts';
import { selectOf, fill, h, type Content, count, empty, fillLater } from '../parts/controls.ts';
import { searchedGrid } from '../parts/grid.ts';
import { linkTo } from '../shell/views.ts';
import type { PartContext } from './part-context.ts';

type Side = 'from' | 'to';

const words: Readonly<Record<MappingComparison['change'], { readonly word: string; readonly kind: string }>> =
  {
    added: { word: 'added', kind: 'good' },
    removed: { word: 'removed', kind: 'bad' },
    changed: { word: 'changed', kind: 'busy' },
    same: { word: 'same', kind: 'idle' },
  };

const fields: Readonly<Record<string, string>> = {
  node_type: 'kind',
  source_type: 'source type',
  min_occurs: 'least',
  max_occurs: 'most',
  table_name: 'table',
  column_name: 'column',
  data_type: 'type',
  length: 'length',
  nullable: 'null',
  key: 'key',
  active: 'on',
  documentation: 'meaning',
};

export async function comparisonPart({ schema, family, query, signal }: PartContext): Promise<Content> {
  const all = await getJson<readonly OriginRecord[]>('v2/schema/all', signal);
  const others = [
    ...family,
    ...all.filter(({ id_sch: id }) => family.every((one) => one.id_sch !== id)),
  ].filter(({ id_sch: id }) => id !== schema.id_sch);
  if (others.length === 0)
    return empty(
      h('p', {}, h('strong', {}, 'Nothing to compare with.')),
      h('p', {}, 'Another version comes by --parent, another schema by another conversion.'),
    );
  const before = family.filter(({ version }) => version < schema.version).at(-1) ?? others[0]!;
  const from = others.find(({ id_sch: id }) => String(id) === query.get('from')) ?? before;
  const result = h('div');
  const choice = selectOf(
    'Compare with',
    others.map(({ id_sch: id, name, version }) => ({
      value: String(id),
      label: `${name}, version ${version}, id ${id}`,
    })),
    String(from.id_sch),
    (value) => (location.hash = linkTo(['schemas', schema.id_sch, 'compare'], { from: value })),
  );
  void fillLater(result, signal, async () =>
    comparison(
      await getJson<readonly MappingComparison[]>(
        `v2/mapping/compare/${from.id_sch}/${schema.id_sch}`,
        signal,
      ),
      from,
      schema,
    ),
  );
  return [h('div', { class: 'bar' }, choice.field), result];
}

function comparison(lines: readonly MappingComparison[], from: OriginRecord, to: OriginRecord): Content {
  if (lines.length === 0) return empty('The two have the same mappings.');
  const changes = Map.groupBy(lines, ({ change }) => change);
  const filter = h('div');
  const result = h('div');
  const show = (change: string): void =>
    fill(
      result,
      searchedGrid(
        'Differences',
        [
          {
            label: 'Change',
            cell: ({ change: one }) => h('span', { class: `badge ${words[one].kind}` }, words[one].word),
          },
          { label: 'Path', cell: (line) => h('code', {}, line.xpath), class: 'wide' },
          { label: `${from.name} v${from.version}`, cell: (line) => sideOf(line, 'from') },
          { label: `${to.name} v${to.version}`, cell: (line) => sideOf(line, 'to') },
        ],
        change === '' ? lines : (changes.get(change as MappingComparison['change']) ?? []),
        (line) => `${line.xpath} ${line.from?.table_name ?? ''} ${line.to?.table_name ?? ''}`,
      ),
    );
  const choices = [
    { value: '', label: `All ${count(lines.length)}` },
    ...[...changes].map(([change, ofChange]) => ({
      value: change,
      label: `${words[change].word}: ${count(ofChange.length)}`,
    })),
  ];
  fill(filter, selectOf('Changes', choices, '', show).field);
  show('');
  return [h('div', { class: 'bar' }, filter), result];
}

function sideOf(line: MappingComparison, side: Side): Content {
  const record = line[side];
  if (record === null) return h('span', { class: 'hint' }, 'not there');
  const marked = line.differences.map(({ field, [side]: value }) =>
    h('div', {}, `${fields[field] ?? field}: `, h(side === 'from' ? 'del' : 'ins', {}, shownValue(value))),
  );
  return [h('div', {}, targetText(record)), marked];
}

function targetText({ table_name: table, column_name: column, data_type: type }: MappingRecord): Content {
  return [column === null ? table : `${table}.${column}`, type === null ? null : [' ', h('code', {}, type)]];
}

function shownValue(value: MappingComparison['differences'][number]['from']): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}
