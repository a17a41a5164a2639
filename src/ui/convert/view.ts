/** The view that converts dropped files to rows: the files, the schema to read them with, and the target of the rows. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { readChoices } from '../api/choices.ts';
import { getJson } from '../api/client.ts';
import { serviceUrl } from '../service-url.ts';
import { keptKey } from '../api/key.ts';
import { codeBlock } from '../parts/controls.ts';
import { fill, freshId, h, type Content } from '../parts/dom.ts';
import { failureBox, notice } from '../parts/notices.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { plannedJobs, whatLacks, type Chosen } from './chosen.ts';
import { convertFields } from './fields.ts';
import { filePicker } from './files.ts';
import { commandText, curlText, type PlannedJob } from './plan.ts';
import { sendAndStart } from './send.ts';

interface Extensions {
  readonly action_params: { readonly commands: boolean };
}

export async function convertView({ main, signal, title }: ViewContext): Promise<void> {
  title('Convert');
  const [choices, { action_params: actions }, schemas] = await Promise.all([
    readChoices(signal),
    getJson<Extensions>('v2/extensions/list', signal),
    // a key that may not see schemas may still run jobs
    getJson<readonly OriginRecord[]>('v2/schema/all', signal).catch(() => []),
  ]);
  if (signal.aborted) return;

  const picker = filePicker(update, signal);
  const fields = convertFields(choices, schemas, update);
  const equivalents = h('div');
  const says = h('div');
  const start = h('button', { type: 'submit', class: 'main' }, 'Convert');
  const missing = h('span', { class: 'hint', id: freshId('missing') });
  start.setAttribute('aria-describedby', missing.id);
  fill(
    main,
    h('h1', {}, 'Convert'),
    actions.commands ? null : commandsAreOff(),
    h(
      'form',
      { class: 'convert', onsubmit: (event: Event) => (event.preventDefault(), void run()) },
      picker.element,
      fields.elements,
      h('div', { class: 'row start' }, start, missing),
      says,
    ),
    equivalents,
  );
  update();

  function update(): void {
    const chosen = fields.chosen(picker.files());
    fields.follow(chosen);
    const lack = whatLacks(chosen);
    start.disabled = lack !== '' || !actions.commands;
    missing.textContent = actions.commands ? lack : '';
    fill(equivalents, equivalentsOf(plannedJobs(chosen, schemas), chosen.files));
  }

  async function run(): Promise<void> {
    const chosen = fields.chosen(picker.files());
    start.disabled = true;
    try {
      const jobs = await sendAndStart(plannedJobs(chosen, schemas), chosen.files, says, signal);
      if (!signal.aborted) location.hash = linkTo(['jobs', jobs.at(-1)!]);
    } catch (error) {
      if (!signal.aborted) fill(says, failureBox(error));
    } finally {
      start.disabled = false;
    }
  }
}

function commandsAreOff(): HTMLElement {
  const words = h(
    'p',
    {},
    h('strong', {}, 'Commands are switched off: '),
    'jobs cannot be started here. Start the service with ',
    h('code', {}, 'SVC_CMD_ENABLED=true'),
    ', or set ',
    h('code', {}, 'cmd.enabled=true'),
    ' in conf/backend.properties.',
  );
  return notice('info', words);
}

function equivalentsOf(jobs: readonly PlannedJob[], files: Chosen['files']): Content {
  if (jobs.length === 0) return null;
  return h(
    'section',
    { 'aria-label': 'The same without this page' },
    h('h2', {}, 'The same without this page'),
    h('h3', {}, 'curl'),
    codeBlock('The same with curl', curlText(jobs, files, serviceUrl, keptKey() !== null)),
    h('h3', {}, 'Command line'),
    codeBlock('The same on the command line', commandText(jobs, files)),
  );
}
