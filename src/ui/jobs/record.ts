/** The view of one job: its state, its actions, its outcome, and its log. */
import type { ShownJob } from '../api/shapes.ts';
import { call, getJson, type PageOf } from '../api/client.ts';
import { actionButton, codeBlock, confirm } from '../parts/controls.ts';
import { fill, h, type Content } from '../parts/dom.ts';
import { count, moment } from '../parts/format.ts';
import { announce, failureBox, fillLater, notice } from '../parts/notices.ts';
import { hasEnded, progressBar, stateBadge, stateWord } from '../parts/status.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { timeTaken } from './listing.ts';
import { logPanel } from './log.ts';
import { jobOutcome } from './outcome.ts';

const everyMs = 1000;

export async function jobView({ main, signal, path, title }: ViewContext): Promise<void> {
  const id = Number(path[1]);
  title(`Job ${path[1]}`);
  if (!Number.isSafeInteger(id)) {
    fill(main, h('h1', {}, 'Job'), notice('bad', `${path[1]} is no number of a job.`));
    return;
  }
  const state = h('span');
  const actions = h('div', { class: 'row' });
  const says = h('div');
  const facts = h('dl', { class: 'facts' });
  const others = h('div');
  const command = h('section', { 'aria-label': 'Command' });
  const outcome = h('div');
  let shownStatus = '';
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
    logPanel(id, signal, () => void refresh()),
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
    fill(facts, factsOf(job));
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
      if (!(await confirm(`Kill job ${id}?`, 'Kill', h('p', {}, 'Nothing of it is published.')))) return;
      await call(`v2/executions/kill/${id}`, { method: 'POST' });
      await refresh();
    });
    const rerun = act(async () => {
      const { id_job: next } = await getJson<{ id_job: number }>(`v2/run/rerun/${id}`);
      location.hash = linkTo(['jobs', next]);
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
    const runsAgain = job.job_type !== 'Export' && job.job_type !== 'Import';
    if (!hasEnded(job.status)) return actionButton('Kill', kill, 'danger');
    return [runsAgain ? actionButton('Run again', rerun) : null, actionButton('Remove', remove, 'quiet')];
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

function factsOf(job: ShownJob): Content {
  const schema =
    job.id_sch === null
      ? null
      : h(
          'a',
          { href: linkTo(['schemas', job.id_sch], { l: job.id_lschma }) },
          `Schema ${job.id_sch}${job.id_lschma === null ? '' : `, tables ${job.id_lschma}`}`,
        );
  const rows: readonly [string, Content][] = [
    ['Progress', progressBar(job)],
    ['Type', job.job_type],
    ['Input', path(job.parm_path_input)],
    ['Output', path(job.parm_path_output)],
    ['Schema', schema],
    ['Documents', count(job.msg_proc_qty)],
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
  return rows
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
