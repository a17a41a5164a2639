/** A watch in the page: its settings, its files by state, and its actions. */
import type { WatchFileRecord, WatchFileStatus, WatchRecord } from '../../ports/stores/watches.ts';
import { call, getJson, postJson, type PageOf } from '../shell/client.ts';
import {
  actionButton,
  ago,
  bytes,
  capitalised,
  confirm,
  count,
  counted,
  empty,
  failureBox,
  fill,
  h,
  moment,
  notice,
  pathText,
  selectOf,
  waiting,
  type Content,
} from '../parts/controls.ts';
import { grid, type GridColumn } from '../parts/grid.ts';
import { rowsLink } from '../rows/targets.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { watchForm } from './form.ts';
import { watchState } from './listing.ts';

const everyMs = 3000;
const pageSize = 50;

const fileStates: readonly WatchFileStatus[] = [
  'waiting',
  'loading',
  'loaded',
  'rejected',
  'ignored',
  'replaced',
];

export async function watchView(context: ViewContext): Promise<void> {
  const { main, signal, path, query, title } = context;
  const [, idText = '', part] = path;
  if (idText === 'new') return await watchForm(context, null);
  title(`Watch ${idText}`);
  const address = `v2/watches/${encodeURIComponent(idText)}`;
  const first = await getJson<WatchRecord>(address, signal);
  if (signal.aborted) return;
  if (part === 'edit') return await watchForm(context, first);
  const { id_watch: id } = first;
  title(`Watch ${first.name}`);
  const says = h('div');
  const actions = h('div', { class: 'row wrap' });
  const facts = h('dl', { class: 'facts' });
  const files = h('div', {}, waiting());
  const pager = h('nav', { class: 'pager', 'aria-label': 'Pages of files' });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let state = query.get('state') ?? '';
  let page = Math.max(0, Math.trunc(Number(query.get('page'))) || 0);
  let shownFiles = '';
  let turn = 0;
  signal.addEventListener('abort', () => clearTimeout(timer));
  const change = (part: { readonly state?: string; readonly page?: number }): void => {
    ({ state = state, page = 0 } = part);
    history.replaceState(null, '', linkTo(['watches', id], { state: state || null, page: page || null }));
    void refresh();
  };
  fill(
    main,
    h('nav', { class: 'trail', 'aria-label': 'Trail' }, h('a', { href: linkTo(['watches']) }, 'Watches')),
    h('div', { class: 'heading' }, h('h1', {}, first.name), actions),
    says,
    facts,
    h(
      'section',
      { 'aria-label': 'Files' },
      h(
        'div',
        { class: 'heading' },
        h('h2', {}, 'Files'),
        selectOf(
          'State',
          [
            { value: '', label: 'All states' },
            ...fileStates.map((value) => ({ value, label: capitalised(value) })),
          ],
          state,
          (chosen) => change({ state: chosen }),
        ).field,
      ),
      files,
      pager,
    ),
  );
  await refresh();

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    turn += 1;
    const own = turn;
    try {
      const search = new URLSearchParams({
        page: String(page),
        size: String(pageSize),
        ...(state === '' ? {} : { status: state }),
      });
      const [watch, found] = await Promise.all([
        getJson<WatchRecord>(address, signal),
        getJson<PageOf<WatchFileRecord>>(`${address}/files?${search.toString()}`, signal),
      ]);
      // a list that was filtered otherwise since then has its own answer
      if (signal.aborted || own !== turn) return;
      fill(facts, factsOf(watch));
      // buttons that somebody is about to press stay the same elements
      const mark = JSON.stringify([found, watch.paused, watch.files.rejected]);
      if (mark !== shownFiles) {
        shownFiles = mark;
        fill(actions, actionsOf(watch));
        fill(
          files,
          found.content.length === 0 ? noFiles(watch) : grid('Files', columnsOf(watch), found.content),
        );
        fill(pager, pagerOf(found));
      }
      timer = setTimeout(() => void refresh(), everyMs);
    } catch (error) {
      if (signal.aborted || own !== turn) return;
      shownFiles = '';
      fill(
        files,
        failureBox(error, () => void refresh()),
      );
    }
  }

  /** Runs an action; its refusal is shown at the top. */
  function act(work: () => Promise<void>): () => Promise<void> {
    return async () => {
      fill(says);
      try {
        await work();
      } catch (error) {
        fill(says, failureBox(error));
      }
    };
  }

  function actionsOf({ paused, files: counts, name }: WatchRecord): Content {
    const retry = act(async () => {
      await postJson(`${address}/run`, { retry: true });
      fill(says, notice('good', `${counted(counts.rejected, 'file')} will be tried again.`));
      await refresh();
    });
    const look = act(async () => {
      await postJson(`${address}/run`, {});
      fill(says, notice('good', 'The place is looked at within moments.'));
      await refresh();
    });
    const pause = act(async () => {
      await call(address, { method: 'PATCH', body: { paused: !paused } });
      await refresh();
    });
    const remove = act(async () => {
      const question = `Remove the watch ${name}?`;
      const consequence = h(
        'p',
        {},
        'The list of its files is removed too, so another watch of this place loads them again. Rows and jobs stay.',
      );
      if (!(await confirm(question, 'Remove', consequence))) return;
      await call(address, { method: 'DELETE' });
      location.hash = linkTo(['watches']);
    });
    return [
      paused ? null : actionButton('Look now', look),
      paused || counts.rejected === 0 ? null : actionButton('Retry all rejected', retry),
      actionButton(paused ? 'Resume' : 'Pause', pause),
      h('a', { class: 'button', href: linkTo(['watches', id, 'edit']) }, 'Edit'),
      actionButton('Remove', remove, 'danger'),
    ];
  }

  function columnsOf({ paused }: WatchRecord): GridColumn<WatchFileRecord>[] {
    return [
      { label: 'File', cell: (file) => h('span', { class: 'path' }, file.name), class: 'wide' },
      {
        label: 'State',
        cell: (file) => [
          h('span', { class: `badge ${badges[file.status]}` }, file.status),
          file.reason === null ? null : h('div', { class: 'hint' }, file.reason),
          file.replaced_by === null ? null : h('div', { class: 'hint' }, `by ${file.replaced_by}`),
        ],
        class: 'wide',
      },
      { label: 'Size', cell: (file) => bytes(file.bytes), number: true },
      {
        label: 'Found',
        cell: (file) => h('time', { title: moment(file.seen_at) }, ago(file.seen_at)),
      },
      {
        label: 'Job',
        cell: ({ id_job: job }) => (job === null ? '' : h('a', { href: linkTo(['jobs', job]) }, `#${job}`)),
      },
      {
        label: 'Action',
        cell: (file) =>
          file.status !== 'rejected' || paused
            ? ''
            : actionButton(
                'Retry',
                act(async () => {
                  await postJson(`${address}/run`, { retry: true, names: [file.name] });
                  fill(says, notice('good', `${file.name} will be tried again.`));
                  await refresh();
                }),
                'small',
              ),
      },
    ];
  }

  function noFiles({ paused, next_run: next }: WatchRecord): HTMLElement {
    if (state !== '') return empty(h('p', {}, h('strong', {}, `No file is ${state}.`)));
    return empty(
      h('p', {}, h('strong', {}, 'No files yet.')),
      h(
        'p',
        {},
        paused
          ? 'The watch is paused. Resume it to look for files.'
          : next === null
            ? 'The place has not been looked at.'
            : `The place is looked at next on ${moment(next)}.`,
      ),
    );
  }

  function pagerOf({ total_pages: pages, total_elements: total }: PageOf<unknown>): Content {
    return pages < 2
      ? null
      : [
          h(
            'button',
            { type: 'button', disabled: page === 0, onclick: () => change({ page: page - 1 }) },
            'Previous',
          ),
          h('span', {}, `Page ${page + 1} of ${count(pages)}, ${counted(total, 'file')}`),
          h(
            'button',
            { type: 'button', disabled: page + 1 >= pages, onclick: () => change({ page: page + 1 }) },
            'Next',
          ),
        ];
  }
}

const badges: Readonly<Record<WatchFileStatus, 'idle' | 'busy' | 'good' | 'bad'>> = {
  waiting: 'idle',
  loading: 'busy',
  loaded: 'good',
  rejected: 'bad',
  ignored: 'idle',
  replaced: 'idle',
};

function factsOf(watch: WatchRecord): Content {
  const { files, target } = watch;
  const link = rowsLink(target);
  const rows: readonly [string, Content][] = [
    ['State', watchState(watch)],
    ['Location', pathText(watch.location)],
    ['Pattern', watch.pattern === null ? null : pathText(watch.pattern)],
    ['Target', link === null ? pathText(target) : h('a', { class: 'path', href: link }, target)],
    ['Looks', watch.every],
    ['Looked', watch.last_run === null ? 'not yet' : ago(watch.last_run)],
    ['Next look', watch.next_run === null ? null : moment(watch.next_run)],
    ['Loaded', count(files.loaded)],
    [
      'Waiting',
      `${count(files.waiting + files.loading)}${watch.waiting_bytes > 0 ? `, ${bytes(watch.waiting_bytes)}` : ''}`,
    ],
    ['Rejected', count(files.rejected)],
  ];
  return rows
    .filter(([, value]) => value !== null)
    .map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value)));
}
