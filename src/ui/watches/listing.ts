/** Lists the watches of the organisation: the location of each, the outcome of its files, and the reason why it is stalled, if it is. */
import type { WatchRecord } from '../../ports/stores/watches.ts';
import { getJson, type PageOf } from '../shell/client.ts';
import { fill, h, type Content, ago, count, moment, empty, fillLater } from '../parts/controls.ts';
import { searchedGrid, type GridColumn } from '../parts/grid.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';

/** the most that one answer has */
const listed = 500;

const columns: readonly GridColumn<WatchRecord>[] = [
  {
    label: 'Watch',
    cell: ({ name, id_watch: id }) => h('a', { href: linkTo(['watches', id]) }, name),
  },
  { label: 'State', cell: watchState, class: 'wide' },
  { label: 'Location', cell: ({ location }) => h('span', { class: 'path' }, location), class: 'wide' },
  { label: 'Target', cell: ({ target }) => h('span', { class: 'path' }, target), class: 'wide' },
  { label: 'Loaded', cell: ({ files }) => count(files.loaded), number: true },
  { label: 'Waiting', cell: ({ files }) => count(files.waiting + files.loading), number: true },
  { label: 'Rejected', cell: ({ files }) => count(files.rejected), number: true },
  { label: 'Looks', cell: ({ every }) => every },
  {
    label: 'Looked',
    cell: ({ last_run: last }) => (last === null ? '—' : h('time', { title: moment(last) }, ago(last))),
  },
];

/** Shows a reason for stalling first; otherwise the running job. */
export function watchState({ stalled, paused, id_job: job }: WatchRecord): Content {
  if (stalled !== null) return h('span', {}, paused ? 'paused: ' : 'stalled: ', stalled);
  if (paused) return 'paused';
  return job === null
    ? 'active'
    : h('span', {}, 'loading in ', h('a', { href: linkTo(['jobs', job]) }, `#${job}`));
}

export async function watchListView({ main, signal, title }: ViewContext): Promise<void> {
  title('Watches');
  const list = h('div');
  fill(
    main,
    h(
      'div',
      { class: 'heading' },
      h('h1', {}, 'Watches'),
      h('a', { class: 'button main', href: linkTo(['watches', 'new']) }, 'New watch'),
    ),
    list,
  );
  await fillLater(list, signal, async () => {
    const { content } = await getJson<PageOf<WatchRecord>>(`v2/watches?size=${listed}`, signal);
    if (content.length === 0)
      return empty(
        h('p', {}, h('strong', {}, 'No watches yet.')),
        h('p', {}, 'A watch looks at a folder, a bucket or a server, and loads each new file once.'),
        h('a', { class: 'button main', href: linkTo(['watches', 'new']) }, 'Make a watch'),
      );
    return searchedGrid(
      'Watches',
      columns,
      content,
      ({ name, location, target }) => `${name} ${location} ${target}`,
    );
  });
}
