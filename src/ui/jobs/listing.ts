/** Lists the jobs, newest first, with a filter; running jobs are polled. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { type ShownJob, getCursorPage, getJson, type CursorPage } from '../shell/client.ts';
import {
  actionButton,
  field,
  selectOf,
  pathText,
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
import { rowsLink } from '../rows/targets.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { canRunAgain, killJob, rerunJob } from './actions.ts';
import { createFigureReader, runText, type RunFigures } from './progress.ts';

const pageSize = 25;
/** jobs that one look for matches goes through */
const searchSize = 500;
const everyMs = 2000;
/** times such as `3 minutes ago` are drawn anew */
const redrawMs = 30_000;

interface Filter {
  /** letter of a state; '' for all */
  readonly status: string;
  readonly type: string;
  readonly schema: string;
  /** days as `2026-11-30`, both included; '' for no limit */
  readonly since: string;
  readonly until: string;
  readonly text: string;
}

const jobTypes = ['Schema', 'Parse', 'Write', 'Unload', 'Export', 'Import'];

/** more of a failure is in the job's view */
const failureCharacters = 200;

function columnsOf(
  figures: ReadonlyMap<number, RunFigures | null>,
  act: (work: () => Promise<void>) => () => Promise<void>,
  refresh: () => Promise<void>,
): readonly GridColumn<ShownJob>[] {
  return [
    { label: 'Job', cell: (job) => h('a', { href: linkTo(['jobs', job.id_job]) }, `#${job.id_job}`) },
    {
      label: 'State',
      cell: (job) => {
        const { failure } = job;
        const running = runText(job, figures.get(job.id_job) ?? null);
        return [
          stateBadge(job.status),
          progressBar(job),
          running === '' ? null : h('div', { class: 'hint' }, running),
          failure === null
            ? null
            : h(
                'div',
                { class: 'failure' },
                failure.length > failureCharacters ? `${failure.slice(0, failureCharacters)}…` : failure,
              ),
        ];
      },
      class: 'wide',
    },
    { label: 'Type', cell: (job) => job.job_type },
    { label: 'Input', cell: (job) => pathText(job.parm_path_input ?? '—'), class: 'wide' },
    {
      label: 'Target',
      cell: (job) => {
        const link = jobRowsLink(job);
        return link === null
          ? pathText(job.parm_path_output ?? '—')
          : h('a', { class: 'path', href: link, title: 'Show the rows' }, job.parm_path_output);
      },
      class: 'wide',
    },
    { label: 'Documents', cell: (job) => count(job.msg_proc_qty), number: true },
    {
      label: 'Started',
      cell: (job) =>
        job.start_date === null ? '—' : h('time', { title: moment(job.start_date) }, ago(job.start_date)),
    },
    { label: 'Took', cell: (job) => timeTaken(job), number: true },
    {
      label: 'Action',
      cell: (job) => {
        const { id_job: id } = job;
        const kill = act(async () => {
          if (await killJob(id)) await refresh();
        });
        const rerun = act(async () => {
          location.hash = linkTo(['jobs', await rerunJob(id)]);
        });
        if (!hasEnded(job.status)) return named(actionButton('Kill', kill, 'small danger'), `Kill job ${id}`);
        return canRunAgain(job)
          ? named(actionButton('Run again', rerun, 'small'), `Run job ${id} again`)
          : '';
      },
    },
  ];
}

function named(button: HTMLButtonElement, label: string): HTMLButtonElement {
  button.setAttribute('aria-label', label);
  return button;
}

/** Address of the rows that a job loaded; null if there are none that the service reads. */
export function jobRowsLink(job: ShownJob, table: string | null = null): string | null {
  return job.status === 'C' && job.job_type === 'Parse'
    ? rowsLink(job.parm_path_output, { table, job: String(job.id_job) })
    : null;
}

export function timeTaken({ start_date: start, end_date: end }: ShownJob): string {
  return start === null ? '—' : duration((end ?? Date.now()) - start);
}

export async function jobListView({ main, signal, query, title }: ViewContext): Promise<void> {
  title('Jobs');
  let filter: Filter = {
    status: query.get('status') ?? '',
    type: query.get('type') ?? '',
    schema: query.get('schema') ?? '',
    since: query.get('since') ?? '',
    until: query.get('until') ?? '',
    text: query.get('text')?.toLowerCase() ?? '',
  };
  let cursor = query.get('cursor');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;
  let shownMark = '';
  let shownAt = 0;
  const list = h('div', { 'aria-busy': 'true' }, waiting());
  const says = h('div');
  const pager = h('nav', { class: 'pager', 'aria-label': 'Pages' });
  const readFigures = createFigureReader(signal);
  const act = (work: () => Promise<void>) => async (): Promise<void> => {
    fill(says);
    try {
      await work();
    } catch (error) {
      fill(says, failureBox(error));
    }
  };
  const change = (part: Partial<Filter>): void => {
    filter = { ...filter, ...part };
    cursor = null;
    remember();
    void refresh();
  };
  /** The address contains the filter, so that it can be sent to somebody else. */
  const remember = (): void => {
    const given = Object.entries(filter).map(([name, value]) => [name, value === '' ? null : value]);
    history.replaceState(
      null,
      '',
      linkTo(['jobs'], { ...(Object.fromEntries(given) as Record<string, string | null>), cursor }),
    );
  };
  const day = (label: string, name: 'since' | 'until'): HTMLElement => {
    const input = h('input', {
      type: 'date',
      value: filter[name],
      onchange: () => change({ [name]: input.value }),
    });
    return field(label, input);
  };
  const schemaChoice = h('span', { hidden: filter.schema === '' });
  void showSchemas();
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
      selectOf('State', stateFilters, filter.status, (status) => change({ status })).field,
      selectOf(
        'Type',
        [{ value: '', label: 'All types' }, ...jobTypes.map((value) => ({ value, label: value }))],
        filter.type,
        (type) => change({ type }),
      ).field,
      schemaChoice,
      h('div', { class: 'row wrap' }, day('From', 'since'), day('To', 'until')),
    ),
    says,
    list,
    pager,
  );
  signal.addEventListener('abort', () => clearTimeout(timer));
  await refresh();

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    turn += 1;
    const own = turn;
    try {
      const found = await getCursorPage<ShownJob>(pathOf(filter, cursor), signal);
      const figures = await readFigures(found.content);
      // a list that was filtered otherwise since then has its own answer
      if (signal.aborted || own !== turn) return;
      const isActive = found.content.some(({ status }) => !hasEnded(status));
      if (isActive || cursor === null) timer = setTimeout(() => void refresh(), everyMs);
      // text of a list that stays as it is can be selected
      const mark = JSON.stringify([filter.text, found]);
      if (!isActive && mark === shownMark && Date.now() - shownAt < redrawMs) return;
      shownMark = mark;
      shownAt = Date.now();
      const jobs = found.content.filter((job) => matches(job, filter.text));
      // a person who uses the list with the keyboard keeps their place
      const focused = list.contains(document.activeElement) ? placeOf(document.activeElement!) : null;
      fill(list, contentOf(found, jobs, figures));
      fill(pager, pagerOf(found));
      if (focused !== null) list.querySelector<HTMLElement>(focused)?.focus();
      list.setAttribute('aria-busy', 'false');
    } catch (error) {
      shownMark = '';
      if (!signal.aborted && own === turn)
        fill(
          list,
          failureBox(error, () => void refresh()),
        );
    }
  }

  function contentOf(
    found: CursorPage<ShownJob>,
    jobs: readonly ShownJob[],
    figures: ReadonlyMap<number, RunFigures | null>,
  ): Content {
    if (found.total_elements === 0) return isEmpty(filter) ? noJobs() : noMatch();
    return [
      filter.text === ''
        ? null
        : h(
            'p',
            { class: 'hint', role: 'status' },
            `${count(jobs.length)} of ${counted(found.content.length, 'job')} of this page match.`,
          ),
      jobs.length === 0 ? noMatch() : grid('Jobs', columnsOf(figures, act, refresh), jobs),
    ];
  }

  /** A key without the scope for schemas filters by everything else. */
  async function showSchemas(): Promise<void> {
    const schemas = await getJson<readonly OriginRecord[]>('v2/schema/all', signal).catch(() => []);
    const names = new Set(schemas.map(({ name }) => name));
    if (filter.schema !== '') names.add(filter.schema);
    if (signal.aborted || names.size === 0) return;
    schemaChoice.hidden = false;
    fill(
      schemaChoice,
      selectOf(
        'Schema',
        [
          { value: '', label: 'All schemas' },
          ...[...names].toSorted().map((value) => ({ value, label: value })),
        ],
        filter.schema,
        (schema) => change({ schema }),
      ).field,
    );
  }

  function go(to: string | null): void {
    cursor = to;
    remember();
    void refresh();
  }

  function pagerOf({ next, prev, total_elements: total, content }: CursorPage<unknown>): Content {
    return next === null && prev === null
      ? null
      : [
          h('button', { type: 'button', disabled: prev === null, onclick: () => go(prev) }, 'Newer'),
          h('span', {}, `${count(content.length)} of ${counted(total, 'job')}`),
          h('button', { type: 'button', disabled: next === null, onclick: () => go(next) }, 'Older'),
        ];
  }
}

/** A selector of the same link or button in a list that was drawn again. */
function placeOf(element: Element): string | null {
  for (const name of ['href', 'aria-label']) {
    const value = element.getAttribute(name);
    if (value !== null) return `[${name}="${CSS.escape(value)}"]`;
  }
  return null;
}

/** The service filters by everything but the text, which longer pages are searched for here. */
function pathOf({ status, type, schema, since, until, text }: Filter, cursor: string | null): string {
  const given: readonly (readonly [string, string | null])[] = [
    ['size', String(text === '' ? pageSize : searchSize)],
    ['status', status],
    ['job_type', type],
    ['cfxml', schema],
    ['since', dayStart(since, 0)],
    ['until', dayStart(until, 1)],
    ['cursor', cursor],
  ];
  const search = new URLSearchParams(
    given.flatMap(([name, value]) => (value === null || value === '' ? [] : [[name, value]])),
  );
  return `v2/executions/all?${search.toString()}`;
}

/** The start of a day in the time zone of the browser, or of a day after it; null for no day. */
function dayStart(day: string, later: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  return year === undefined
    ? null
    : String(new Date(Number(year), Number(month) - 1, Number(date) + later).getTime());
}

function isEmpty(filter: Filter): boolean {
  return Object.values(filter).every((value) => value === '');
}

function matches(job: ShownJob, text: string): boolean {
  const searched = `#${job.id_job} ${job.parm_path_input ?? ''} ${job.parm_path_output ?? ''} ${job.params} ${job.failure ?? ''}`;
  return searched.toLowerCase().includes(text);
}

function noMatch(): HTMLElement {
  return empty(
    h('p', {}, h('strong', {}, 'No job matches.')),
    h('a', { class: 'button', href: linkTo(['jobs'], { all: 1 }) }, 'Show all jobs'),
  );
}

function noJobs(): HTMLElement {
  return empty(
    h('p', {}, h('strong', {}, 'No jobs yet.')),
    h('p', {}, 'Drop XML documents, an XSD set, or both, and get tables and rows.'),
    h('a', { class: 'button main', href: linkTo(['convert']) }, 'Convert something'),
  );
}
