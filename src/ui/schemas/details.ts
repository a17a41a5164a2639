/** The view of one schema: its versions and logical schemas to choose from, and a part for each aspect of it. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { ShownJob } from '../api/shapes.ts';
import { getJson, type PageOf } from '../api/client.ts';
import { diagramPart } from '../diagram/view.ts';
import { selectOf } from '../parts/controls.ts';
import { fill, h, type Content } from '../parts/dom.ts';
import { failureBox, fillLater } from '../parts/notices.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { comparisonPart } from './comparison.ts';
import { ddlPart } from './ddl.ts';
import { mappingsPart, statisticsPart } from './mappings.ts';
import { overviewPart } from './overview.ts';
import { tablesPart } from './tables.ts';
import type { PartContext } from './part-context.ts';

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
    h(
      'nav',
      { class: 'tabs', 'aria-label': `Parts of ${schema.name}` },
      Object.entries(parts).map(([name, { label }]) =>
        h(
          'a',
          {
            href: linkTo(['schemas', schema.id_sch, name], { l: idLschma }),
            'aria-current': parts[name] === part ? 'page' : null,
          },
          label,
        ),
      ),
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
