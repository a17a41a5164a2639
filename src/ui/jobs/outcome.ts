/** The outcome of a load: rows by table, rejected documents, and content without a place. */
import type { FeedRunDetails } from '../../catalog/feeds/runs.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { ShownJob } from '../api/shapes.ts';
import { getJson } from '../api/client.ts';
import { RefusedRequest } from '../api/refused.ts';
import { h, type Content } from '../parts/dom.ts';
import { count, counted } from '../parts/format.ts';
import { grid, searchedGrid } from '../parts/grid.ts';
import { linkTo } from '../shell/views.ts';

type Reject = FeedRunDetails['rejects'][number];

/** Returns null if the job has no schema, or this key may not see runs. */
export async function jobOutcome(
  { id_job: id, id_sch: idSch, id_lschma: idLschma }: ShownJob,
  signal: AbortSignal,
): Promise<Content> {
  if (idSch === null) return null;
  try {
    const { name } = await getJson<OriginRecord>(`v2/schema/${idSch}`, signal);
    const run = await getJson<FeedRunDetails>(
      `v2/extensions/cil/job/${encodeURIComponent(name)}/${id}`,
      signal,
    );
    return outcome(run, idSch, idLschma);
  } catch (error) {
    if (error instanceof RefusedRequest && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

function outcome(run: FeedRunDetails, idSch: number, idLschma: number | null): Content {
  const figures: readonly [string, number][] = [
    ['documents', run.documents],
    ['rows', run.rows],
    ['rejected', run.rejected],
    ['values without a place', run.unmapped],
  ];
  const tableLink = (name: string): HTMLElement =>
    h('a', { href: linkTo(['schemas', idSch, 'tables', name], { l: idLschma }) }, name);
  return [
    h(
      'ul',
      { class: 'figures' },
      figures.map(([label, value]) =>
        h(
          'li',
          { class: label === 'rejected' && value > 0 ? 'bad' : null },
          h('strong', {}, count(value)),
          ` ${label}`,
        ),
      ),
    ),
    run.tables.length === 0
      ? null
      : h(
          'section',
          { 'aria-label': 'Tables' },
          h('h2', {}, 'Rows'),
          grid(
            'Rows by table',
            [
              { label: 'Table', cell: (row) => tableLink(row.table_name) },
              { label: 'Rows', cell: (row) => count(row.rows), number: true },
            ],
            run.tables,
          ),
        ),
    run.rejects.length === 0
      ? null
      : h(
          'section',
          { 'aria-label': 'Rejects' },
          h('h2', {}, counted(run.rejects.length, 'reject')),
          searchedGrid<Reject>(
            'Rejects',
            [
              { label: 'Document', cell: (reject) => h('span', { class: 'path' }, reject.document ?? '—') },
              { label: 'Line', cell: (reject) => reject.line ?? '—', number: true },
              { label: 'Column', cell: (reject) => reject.column ?? '—', number: true },
              { label: 'Code', cell: (reject) => (reject.code === null ? '—' : h('code', {}, reject.code)) },
              { label: 'Why', cell: (reject) => reject.message, class: 'wide' },
            ],
            run.rejects,
            (reject) => `${reject.document ?? ''} ${reject.code ?? ''} ${reject.message}`,
          ),
        ),
    run.unmapped_xpaths.length === 0
      ? null
      : h(
          'section',
          { 'aria-label': 'Without a place' },
          h('h2', {}, 'Not in the schema'),
          h('p', { class: 'hint' }, 'Kept in the table _unmapped unless the job says otherwise.'),
          grid(
            'Paths that the schema does not have',
            [
              { label: 'Path', cell: (row) => h('code', {}, row.xpath), class: 'wide' },
              { label: 'Values', cell: (row) => count(row.count), number: true },
            ],
            run.unmapped_xpaths,
          ),
        ),
    run.broken_keys.length === 0
      ? null
      : h(
          'section',
          { 'aria-label': 'Broken keys' },
          h('h2', {}, 'Keys that values broke'),
          h(
            'ul',
            {},
            run.broken_keys.map(({ table_name: table, columns }) =>
              h('li', {}, tableLink(table), `: ${columns.join(', ')}`),
            ),
          ),
        ),
  ];
}
