/** Lists the schemas of the organisation: each describes documents, and has tables of its newest version. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { getJson } from '../shell/client.ts';
import { fill, h, ago, count, moment, empty, fillLater } from '../parts/controls.ts';
import { searchedGrid } from '../parts/grid.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';

const sources: Readonly<Record<OriginRecord['source_type'], string>> = {
  xsd: 'XSD set',
  xml: 'inferred',
  'xsd+xml': 'XSD set and documents',
};

export function sourceWord({ source_type: type }: OriginRecord): string {
  return sources[type];
}

export async function schemaListView({ main, signal, title }: ViewContext): Promise<void> {
  title('Schemas');
  const list = h('div');
  fill(
    main,
    h(
      'div',
      { class: 'heading' },
      h('h1', {}, 'Schemas'),
      h('a', { class: 'button main', href: linkTo(['convert']) }, 'Convert'),
    ),
    list,
  );
  await fillLater(list, signal, async () => {
    const schemas = await getJson<readonly OriginRecord[]>('v2/schema/all', signal);
    if (schemas.length === 0)
      return empty(
        h('p', {}, h('strong', {}, 'No schemas yet.')),
        h('p', {}, 'A schema comes of an XSD set, or of documents themselves.'),
        h('a', { class: 'button main', href: linkTo(['convert']) }, 'Convert something'),
      );
    return searchedGrid(
      'Schemas',
      [
        {
          label: 'Schema',
          cell: (schema) => h('a', { href: linkTo(['schemas', schema.id_sch]) }, schema.name),
        },
        { label: 'Id', cell: (schema) => schema.id_sch, number: true },
        { label: 'Version', cell: (schema) => schema.version, number: true },
        { label: 'From', cell: sourceWord },
        { label: 'Root elements', cell: (schema) => shortList(schema.root_elements), class: 'wide' },
        { label: 'Tables', cell: (schema) => count(schema.table_count), number: true },
        { label: 'Mappings', cell: (schema) => count(schema.mapping_count), number: true },
        {
          label: 'Made',
          cell: (schema) => h('time', { title: moment(schema.created) }, ago(schema.created)),
        },
      ],
      schemas.toSorted((a, b) => b.id_sch - a.id_sch),
      (schema) =>
        `${schema.name} ${schema.id_sch} ${schema.root_elements.join(' ')} ${schema.target_namespace ?? ''}`,
    );
  });
}

/** Standards have hundreds of roots. */
function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and ${count(names.length - 3)} more` : shown;
}
