/** Lists the jobs, newest first, with a filter; running jobs are polled. */
import { type ShownJob, getJson, type PageOf } from '../shell/client.ts';
import {
  selectOf,
  searchField,
  fill,
  h,
  type Content,
  ago,
  count,
  counted,
  duration,
  moment,
  empty,
  failureBox,
  waiting,
  hasEnded,
  progressBar,
  stateBadge,
  stateFilters,
} from '../parts/controls.ts';
import { grid, type GridColumn } from '../parts/grid.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';

const pageSize = 25;
/** jobs that one look for matches goes through */
const searchSize = 500;
const everyMs = 2000;

interface Filter {
  readonly states: string;
  readonly type: string;
  readonly text: string;
}

const jobTypes = ['Schema', 'Parse', 'Write', 'Unload', 'Export', 'Import'];

const columns: readonly GridColumn<ShownJob>[] = [
  { label: 'Job', cell: (job) => h('a', { href: linkTo(['jobs', job.id_job]) }, `#${job.id_job}`) },
  { label: 'State', cell: (job) => [stateBadge(job.status), progressBar(job)] },
  { label: 'Type', cell: (job) => job.job_type },
  { label: 'Input', cell: (job) => h('span', { class: 'path' }, job.parm_path_input ?? '—'), class: 'wide' },
  { label: 'Documents', cell: (job) => count(job.msg_proc_qty), number: true },
  {
    label: 'Started',
    cell: (job) =>
      job.start_date === null ? '—' : h('time', { title: moment(job.start_date) }, ago(job.start_date)),
  },
  { label: 'Took', cell: (job) => timeTaken(job), number: true },
];

export function timeTaken({ start_date: start, end_date: end }: ShownJob): string {
  return start === null ? '—' : duration((end ?? Date.now()) - start);
}

export async function jobListView({ main, signal, query, title }: ViewContext): Promise<void> {
  title('Jobs');
  let filter: Filter = {
    states: query.get('state') ?? '',
    type: query.get('type') ?? '',
    text: query.get('text')?.toLowerCase() ?? '',
  };
  let page = Math.max(0, Number(query.get('page') ?? 0) || 0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const list = h('div', { 'aria-busy': 'true' }, waiting());
  const pager = h('nav', { class: 'pager', 'aria-label': 'Pages' });
  const change = (part: Partial<Filter>): void => {
    filter = { ...filter, ...part };
    page = 0;
    remember();
    void refresh();
  };
  /** The address contains the filter, so that it can be sent to somebody else. */
  const remember = (): void => {
    history.replaceState(
      null,
      '',
      linkTo(['jobs'], {
        state: filter.states || null,
        type: filter.type || null,
        text: filter.text || null,
        page: page || null,
      }),
    );
  };
  fill(
    main,
    h(
      'div',
      { class: 'heading' },
      h('h1', {}, 'Jobs'),
      h('a', { class: 'button main', href: linkTo(['convert']) }, 'Convert'),
    ),
    h(
      'div',
      { class: 'bar', role: 'search' },
      searchField('Search id, input, output, command', (text) => change({ text }), filter.text),
      selectOf('State', stateFilters, filter.states, (states) => change({ states })).field,
      selectOf(
        'Type',
        [{ value: '', label: 'All types' }, ...jobTypes.map((value) => ({ value, label: value }))],
        filter.type,
        (type) => change({ type }),
      ).field,
    ),
    list,
    pager,
  );
  signal.addEventListener('abort', () => clearTimeout(timer));
  await refresh();

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    try {
      const shown = isEmpty(filter) ? await plainPage() : await searchedPage();
      if (signal.aborted) return;
      // a person who uses the list with the keyboard keeps their place
      const focused = list.contains(document.activeElement)
        ? (document.activeElement as HTMLElement).getAttribute('href')
        : null;
      fill(list, shown.content);
      fill(pager, shown.pager);
      if (focused !== null) list.querySelector<HTMLElement>(`[href="${CSS.escape(focused)}"]`)?.focus();
      list.setAttribute('aria-busy', 'false');
      if (shown.jobs.some(({ status }) => !hasEnded(status)) || page === 0)
        timer = setTimeout(() => void refresh(), everyMs);
    } catch (error) {
      if (!signal.aborted) fill(list, failureBox(error));
    }
  }

  async function plainPage(): Promise<ShownPage> {
    const found = await getJson<PageOf<ShownJob>>(`v2/executions/all/${page}?size=${pageSize}`, signal);
    if (found.total_elements === 0) return { jobs: [], content: noJobs(), pager: null };
    return { jobs: found.content, content: grid('Jobs', columns, found.content), pager: pagerOf(found) };
  }

  /** The interface has no filter of its own: the newest jobs are gone through here, a long page after the other. */
  async function searchedPage(): Promise<ShownPage> {
    const found = await getJson<PageOf<ShownJob>>(`v2/executions/all/${page}?size=${searchSize}`, signal);
    const jobs = found.content.filter((job) => matches(job, filter));
    const last = Math.min(found.total_elements, (page + 1) * searchSize);
    const matchCount = h(
      'p',
      { class: 'hint', role: 'status' },
      `${counted(jobs.length, 'job')} of those from ${count(page * searchSize + 1)} to ${count(last)} match.`,
    );
    return {
      jobs,
      content: [matchCount, jobs.length === 0 ? empty('No job matches.') : grid('Jobs', columns, jobs)],
      pager: pagerOf(found),
    };
  }

  function pagerOf({ total_pages: pages, total_elements: total }: PageOf<unknown>): Content {
    const go = (to: number): void => {
      page = to;
      remember();
      void refresh();
    };
    return pages < 2
      ? null
      : [
          h('button', { type: 'button', disabled: page === 0, onclick: () => go(page - 1) }, 'Newer'),
          h('span', {}, `Page ${page + 1} of ${count(pages)}, ${counted(total, 'job')}`),
          h('button', { type: 'button', disabled: page + 1 >= pages, onclick: () => go(page + 1) }, 'Older'),
        ];
  }
}

interface ShownPage {
  readonly jobs: readonly ShownJob[];
  readonly content: Content;
  readonly pager: Content;
}

function isEmpty({ states, type, text }: Filter): boolean {
  return states === '' && type === '' && text === '';
}

function matches(job: ShownJob, { states, type, text }: Filter): boolean {
  if (states !== '' && !states.includes(job.status)) return false;
  if (type !== '' && job.job_type !== type) return false;
  const looked = `#${job.id_job} ${job.parm_path_input ?? ''} ${job.parm_path_output ?? ''} ${job.params} ${job.failure ?? ''}`;
  return looked.toLowerCase().includes(text);
}

function noJobs(): HTMLElement {
  return empty(
    h('p', {}, h('strong', {}, 'No jobs yet.')),
    h('p', {}, 'Drop XML documents, an XSD set, or both, and get tables and rows.'),
    h('a', { class: 'button main', href: linkTo(['convert']) }, 'Convert something'),
  );
}
