/** A job in the page: its record, its log, and its outcome. */
import { type ShownJob, call, getJson, type PageOf, followEvents, RefusedRequest } from '../shell/client.ts';
import {
  actionButton,
  codeBlock,
  confirm,
  fill,
  h,
  type Content,
  count,
  moment,
  announce,
  failureBox,
  fillLater,
  notice,
  hasEnded,
  progressBar,
  stateBadge,
  stateWord,
  copyButton,
  saveFile,
  counted,
  duration,
  nounOf,
} from '../parts/controls.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { canRunAgain, killJob, rerunJob } from './actions.ts';
import { jobRowsLink, timeTaken } from './listing.ts';
import { figuresOf, timeLeft, type RunFigures } from './progress.ts';
import type { FeedRunDetails } from '../../service/catalog/run-feed.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { grid, searchedGrid } from '../parts/grid.ts';

// The view of one job: its state, its actions, its outcome, and its log.

const everyMs = 1000;
/** more than two lines on progress have */
const lineCharacters = 1000;

export async function jobView({ main, signal, path, title }: ViewContext): Promise<void> {
  const id = Number(path[1]);
  title(`Job ${path[1]}`);
  if (!Number.isSafeInteger(id)) {
    fill(main, h('h1', {}, 'Job'), notice('bad', `${path[1]} is no number of a job.`));
    return;
  }
  const state = h('span');
  const actions = h('div', { class: 'row wrap' });
  const says = h('div');
  const facts = h('dl', { class: 'facts' });
  const others = h('div');
  const command = h('section', { 'aria-label': 'Command' });
  const outcome = h('div');
  let shownStatus = '';
  let figures: RunFigures | null = null;
  let logEnd = '';
  let shown: ShownJob | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener('abort', () => clearTimeout(timer));

  const first = await getJson<ShownJob>(`v2/executions/get/${id}`, signal);
  fill(
    main,
    h('nav', { class: 'trail', 'aria-label': 'Trail' }, h('a', { href: linkTo(['jobs']) }, 'Jobs')),
    h('div', { class: 'heading' }, h('h1', {}, `Job ${id} `, state), actions),
    says,
    facts,
    others,
    outcome,
    logPanel(id, signal, {
      onEnd: () => void refresh(),
      onText: (text) => {
        // a piece of the log may end within a line
        logEnd = (logEnd + text).slice(-lineCharacters);
        figures = figuresOf(logEnd) ?? figures;
        showFacts();
      },
    }),
    command,
  );
  fill(
    command,
    h('h2', {}, 'Command'),
    codeBlock('Command of the job', `${toolOf(first)} ${first.params}`),
    h(
      'details',
      {},
      h('summary', {}, 'Parameters as JSON'),
      codeBlock('Parameters', pretty(first.params_json)),
    ),
  );
  show(first);
  showOthers(first).catch((error: unknown) => {
    if (!signal.aborted) fill(others, failureBox(error));
  });

  function show(job: ShownJob): void {
    clearTimeout(timer);
    shown = job;
    showFacts();
    if (job.status !== shownStatus) {
      if (shownStatus !== '') announce(`Job ${id} is ${stateWord(job.status)}`);
      shownStatus = job.status;
      fill(state, stateBadge(job.status));
      fill(actions, actionsOf(job));
      if (job.failure !== null) fill(says, notice('bad', job.failure));
      if (hasEnded(job.status)) void fillLater(outcome, signal, () => jobOutcome(job, signal));
    }
    if (!hasEnded(job.status)) timer = setTimeout(() => void refresh(), everyMs);
  }

  function showFacts(): void {
    if (shown !== null) fill(facts, factsOf(shown, hasEnded(shown.status) ? null : figures));
  }

  async function refresh(): Promise<void> {
    try {
      const job = await getJson<ShownJob>(`v2/executions/get/${id}`, signal);
      if (!signal.aborted) show(job);
    } catch (error) {
      if (!signal.aborted) fill(says, failureBox(error));
    }
  }

  /** Runs an action of the job's view; a refusal is shown beside the job. */
  function act(work: () => Promise<void>): () => Promise<void> {
    return async () => {
      try {
        await work();
      } catch (error) {
        fill(says, failureBox(error));
      }
    };
  }

  function actionsOf(job: ShownJob): Content {
    const kill = act(async () => {
      if (await killJob(id)) await refresh();
    });
    const rerun = act(async () => {
      location.hash = linkTo(['jobs', await rerunJob(id)]);
    });
    const remove = act(async () => {
      if (
        !(await confirm(
          `Remove job ${id}?`,
          'Remove',
          h('p', {}, 'Its record and its log go; what it loaded stays.'),
        ))
      )
        return;
      await call(`v2/executions/${id}`, { method: 'DELETE' });
      location.hash = linkTo(['jobs']);
    });
    const rows = jobRowsLink(job);
    if (!hasEnded(job.status)) return actionButton('Kill', kill, 'danger');
    return [
      rows === null ? null : h('a', { class: 'button main', href: rows }, 'Show the rows'),
      canRunAgain(job) ? actionButton('Run again', rerun) : null,
      actionButton('Remove', remove, 'quiet'),
    ];
  }

  /** The other jobs of the workflow: compiling a set and loading by it are two. */
  async function showOthers({ id_workflow: idWorkflow }: ShownJob): Promise<void> {
    const { content } = await getJson<PageOf<ShownJob>>(`v2/executions/${idWorkflow}?size=100`, signal);
    if (signal.aborted || content.length < 2) return;
    fill(
      others,
      h(
        'p',
        { class: 'row wrap' },
        `Workflow ${idWorkflow}:`,
        content.map((job) =>
          job.id_job === id
            ? h('strong', {}, `#${job.id_job} ${job.job_type}`)
            : h('a', { href: linkTo(['jobs', job.id_job]) }, `#${job.id_job} ${job.job_type}`),
        ),
      ),
    );
  }
}

function path(text: string | null): Content {
  return text === null ? null : h('span', { class: 'path' }, text);
}

/** `figures`: of a running job */
function factsOf(job: ShownJob, figures: RunFigures | null): Content {
  const left = timeLeft(job);
  const rows = jobRowsLink(job);
  const schema =
    job.id_sch === null
      ? null
      : h(
          'a',
          { href: linkTo(['schemas', job.id_sch], { l: job.id_lschma }) },
          `Schema ${job.id_sch}${job.id_lschma === null ? '' : `, tables ${job.id_lschma}`}`,
        );
  const facts: readonly [string, Content][] = [
    ['Progress', progressBar(job)],
    ['Type', job.job_type],
    ['Input', path(job.parm_path_input)],
    [
      'Output',
      rows === null
        ? path(job.parm_path_output)
        : h('a', { class: 'path', href: rows }, job.parm_path_output),
    ],
    ['Schema', schema],
    ['Documents', count(Math.max(job.msg_proc_qty, figures?.documents ?? 0))],
    ['Rows', figures?.rows == null ? null : count(figures.rows)],
    ['Speed', figures?.mbPerSecond == null ? null : `${figures.mbPerSecond} MB/s`],
    ['Time left', left === null ? null : duration(left)],
    ['Started', job.start_date === null ? null : moment(job.start_date)],
    ['Took', job.start_date === null ? null : timeTaken(job)],
    ['Attempt', job.attempt > 1 ? job.attempt : null],
    [
      'Repeats',
      job.id_parent_job === null
        ? null
        : h('a', { href: linkTo(['jobs', job.id_parent_job]) }, `#${job.id_parent_job}`),
    ],
    ['Host', job.host],
  ];
  return facts
    .filter(([, value]) => value !== null)
    .map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value)));
}

const tools: Readonly<Record<ShownJob['job_type'], string>> = {
  Schema: 'xsd2er',
  Parse: 'xml2er',
  Write: 'er2xml',
  Unload: 'unload',
  Export: 'migrate export',
  Import: 'migrate import',
};

function toolOf({ job_type: type }: ShownJob): string {
  return tools[type];
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

// The log of a job, as it is written.

/** more than this is not shown, but downloaded */
const mostCharacters = 2_000_000;
const retryMs = 2000;

interface LogListener {
  /** the job has ended */
  readonly onEnd: () => void;
  /** gets each piece of the log */
  readonly onText: (piece: string) => void;
}

function logPanel(idJob: number, signal: AbortSignal, { onEnd, onText }: LogListener): HTMLElement {
  const path = `v2/executions/log/${idJob}`;
  const text = h('pre', { class: 'log', tabindex: '0', role: 'log', 'aria-label': `Log of job ${idJob}` });
  const follow = h('input', { type: 'checkbox', id: `follow-${idJob}`, checked: true });
  const says = h('div');
  void read();
  return h(
    'section',
    { 'aria-label': 'Log' },
    h(
      'div',
      { class: 'heading' },
      h('h2', {}, 'Log'),
      h(
        'div',
        { class: 'row' },
        h('span', { class: 'check' }, follow, h('label', { for: follow.id }, 'Follow')),
        actionButton(
          'Download',
          async () => saveFile(`job-${idJob}.log`, await (await call(path, { accept: 'text/plain' })).blob()),
          'small',
        ),
        copyButton(() => text.textContent ?? ''),
      ),
    ),
    says,
    text,
  );

  /** Reads the log; a broken connection is resumed where it ended. */
  async function read(offset = '0'): Promise<void> {
    let next = offset;
    try {
      for await (const { id, event, data } of followEvents(`${path}?offset=${offset}`, signal)) {
        if (event === 'end') {
          if (text.textContent === '') text.textContent = 'The log is empty.';
          return onEnd();
        }
        next = id;
        show(data);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof TypeError) setTimeout(() => !signal.aborted && void read(next), retryMs);
      else says.replaceChildren(failureBox(error));
      return;
    }
    if (!signal.aborted) setTimeout(() => void read(next), retryMs);
  }

  function show(piece: string): void {
    onText(piece);
    text.append(piece);
    const over = (text.textContent?.length ?? 0) - mostCharacters;
    if (over > 0) text.textContent = `… the beginning is in the download …\n${text.textContent!.slice(over)}`;
    if (follow.checked) text.scrollTop = text.scrollHeight;
  }
}

// The outcome of a load: rows by table, rejected documents, and content without a place.

type Reject = FeedRunDetails['rejects'][number];

/** Returns null if the job has no schema, or this key may not see runs. */
async function jobOutcome(job: ShownJob, signal: AbortSignal): Promise<Content> {
  const { id_job: id, id_sch: idSch } = job;
  if (idSch === null) return null;
  try {
    const { name } = await getJson<OriginRecord>(`v2/schema/${idSch}`, signal);
    const run = await getJson<FeedRunDetails>(
      `v2/extensions/cil/job/${encodeURIComponent(name)}/${id}`,
      signal,
    );
    return outcome(run, job);
  } catch (error) {
    if (error instanceof RefusedRequest && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

function outcome(run: FeedRunDetails, job: ShownJob): Content {
  const { id_sch: idSch, id_lschma: idLschma } = job;
  const figures: readonly (readonly [label: string, value: number, isBad?: boolean])[] = [
    [nounOf(run.documents, 'document'), run.documents],
    [nounOf(run.rows, 'row'), run.rows],
    ['rejected', run.rejected, run.rejected > 0],
    [`${nounOf(run.unmapped, 'value')} without a place`, run.unmapped],
  ];
  const unmappedLink = jobRowsLink(job, '_unmapped');
  const tableLink = (name: string): HTMLElement => {
    const schema = linkTo(['schemas', idSch!, 'tables', name], { l: idLschma });
    return h('a', { href: jobRowsLink(job, name) ?? schema }, name);
  };
  return [
    h(
      'ul',
      { class: 'figures' },
      figures.map(([label, value, isBad = false]) =>
        h('li', { class: isBad ? 'bad' : null }, h('strong', {}, count(value)), ` ${label}`),
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
          h(
            'p',
            { class: 'hint' },
            'Kept in the table ',
            unmappedLink === null ? '_unmapped' : h('a', { href: unmappedLink }, '_unmapped'),
            ' unless the job says otherwise.',
          ),
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
