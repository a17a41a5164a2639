/** The view that converts dropped files to rows: the files, the schema to read them with, and the target of the rows. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { readChoices, getJson } from '../shell/client.ts';
import { serviceUrl } from '../service-url.ts';
import { keptKey } from '../shell/key.ts';
import {
  codeBlock,
  fill,
  freshId,
  h,
  type Content,
  failureBox,
  notice,
  field,
  selectOf,
  type Choice,
} from '../parts/controls.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import {
  plannedJobs,
  whatLacks,
  type Chosen,
  commandText,
  curlText,
  type PlannedJob,
  suggestedTarget,
  type TargetKind,
  type PlannedOption,
} from './plan.ts';
import { filePicker, sendAndStart } from './files.ts';
import type { PageChoices, OptionChoice } from '../../http/routes/page.ts';

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

// The form fields beside the files: the schema, the target, and all options of the tools.

const targets: readonly { readonly value: TargetKind; readonly label: string }[] = [
  { value: 'metadb', label: 'a SQL schema of the service' },
  { value: 'other', label: 'another database, a file or a folder' },
  { value: 'none', label: 'nowhere: read documents for statistics' },
];

const saveModes: Readonly<Record<string, string>> = {
  a: 'append',
  o: 'overwrite',
  e: 'fail if it exists',
  i: 'do nothing if it exists',
  m: 'replace documents of the same name',
  w: 'make the tables alone',
  p: 'print the DDL alone',
};

const levels: readonly Choice[] = [
  { value: '', label: 'as a person would draw them' },
  { value: '0', label: '0: a table for each element' },
  { value: '1', label: '1: single children fold into their parent' },
  { value: '2', label: '2: a type that recurs is one table' },
  { value: '3', label: '3: both' },
];

const targetHints: Readonly<Record<TargetKind, string>> = {
  metadb: 'a new one, or one that this schema was loaded into before',
  other: 'such as postgresql://HOST/DATABASE?schema=S, duckdb:FILE, sqlite:FILE, or a folder',
  none: '',
};

/** have a field of their own */
const placed = new Set(['--out', '--origin', '--format', '--savemode', '--name', '--map']);

interface ConvertFields {
  readonly elements: readonly HTMLElement[];
  chosen(files: Chosen['files']): Chosen;
  /** Shows the fields that apply to the choices, and hides the others. */
  follow(chosen: Chosen): void;
}

function convertFields(
  { tools }: PageChoices,
  schemas: readonly OriginRecord[],
  onChange: () => void,
): ConvertFields {
  const schema = schemaFields(schemas, onChange);
  const target = targetFields(tools.xml2er, onChange);
  const forSchema = optionFields(tools.xsd2er, placed, onChange);
  const forLoad = optionFields(tools.xml2er, placed, onChange);
  const schemaDetails = h('details', {}, h('summary', {}, 'All options of xsd2er'), forSchema.element);
  const loadDetails = h('details', {}, h('summary', {}, 'All options of xml2er'), forLoad.element);
  return {
    elements: [schema.element, target.element, schemaDetails, loadDetails],
    chosen: (files) => ({
      files,
      ...schema.chosen(),
      ...target.chosen(),
      forSchema: forSchema.given(),
      forLoad: forLoad.given(),
    }),
    follow: (chosen) => {
      const { xml, xsd } = chosen.files;
      const makes = chosen.schema === '';
      const loads = xml.length > 0 || xsd.length === 0;
      schema.follow(xsd.length > 0, makes);
      target.follow(chosen.targetKind, suggestedTarget(chosen, schemas));
      schemaDetails.hidden = !(xsd.length > 0 && makes);
      loadDetails.hidden = !loads;
      target.element.hidden = !loads;
    },
  };
}

function schemaFields(schemas: readonly OriginRecord[], onChange: () => void) {
  const choicesOf = (withXsd: boolean): readonly Choice[] => [
    { value: '', label: withXsd ? 'of the XSD files' : 'inferred from the documents' },
    ...schemas.toReversed().map(({ id_sch: id, name: own, version }) => ({
      value: String(id),
      label: `${own}, version ${version}, id ${id}`,
    })),
  ];
  const schema = selectOf('Schema', choicesOf(false), '', onChange);
  const name = textInput(onChange, 'from the input');
  const level = selectOf('Tables', levels, '', onChange);
  let hadXsd = false;
  return {
    element: fieldset('Schema', schema.field, field('Name', name), level.field),
    chosen: () => ({ schema: schema.input.value, name: name.value.trim(), level: level.input.value }),
    follow: (hasXsd: boolean, makes: boolean) => {
      name.disabled = !makes;
      level.input.disabled = !makes;
      if (hasXsd === hadXsd) return;
      hadXsd = hasXsd;
      const chosen = schema.input.value;
      const options = choicesOf(hasXsd).map(({ value, label }) =>
        h('option', { value, selected: value === chosen }, label),
      );
      fill(schema.input, options);
    },
  };
}

function targetFields(options: PageChoices['tools']['xml2er'], onChange: () => void) {
  const formsOf = (long: string): readonly string[] =>
    valuesOf(options.find((option) => option.long === long)?.form ?? '') ?? [];
  const formats = formsOf('--format').map((value) => ({ value, label: value }));
  const modes = formsOf('--savemode').map((value) => ({
    value: value === 'a' ? '' : value,
    label: saveModes[value] ?? value,
  }));
  const kind = selectOf('Rows go to', targets, 'metadb', onChange);
  const name = textInput(onChange);
  const nameField = field('Name', name, targetHints.metadb);
  const format = selectOf('Format', [{ value: '', label: 'default' }, ...formats], '', onChange);
  const mode = selectOf('If it exists', modes, '', onChange);
  return {
    element: fieldset('Target', kind.field, nameField, format.field, mode.field),
    chosen: () => ({
      targetKind: kind.input.value as TargetKind,
      target: name.value.trim(),
      format: format.input.value,
      saveMode: mode.input.value,
    }),
    follow: (to: TargetKind, suggested: string) => {
      nameField.hidden = to === 'none';
      nameField.querySelector('label')!.textContent = to === 'metadb' ? 'SQL schema' : 'Target';
      nameField.querySelector('.hint')!.textContent = targetHints[to];
      name.placeholder = to === 'metadb' ? suggested : 'postgresql://…, duckdb:…, folder';
      format.field.hidden = to !== 'other';
      mode.field.hidden = to === 'none';
    },
  };
}

function textInput(onChange: () => void, placeholder = ''): HTMLInputElement {
  return h('input', {
    type: 'text',
    placeholder,
    oninput: () => onChange(),
    spellcheck: 'false',
    autocomplete: 'off',
  });
}

function fieldset(legend: string, ...fields: readonly HTMLElement[]): HTMLElement {
  return h('fieldset', {}, h('legend', {}, legend), h('div', { class: 'fields' }, ...fields));
}

// Fields for the options of a tool, made of the same table as its command line.

interface OptionFields {
  readonly element: HTMLElement;
  given(): PlannedOption[];
}

/** `without`: long names of those that have a field elsewhere. */
function optionFields(
  options: readonly OptionChoice[],
  without: ReadonlySet<string>,
  onChange: () => void,
): OptionFields {
  const fields = options.filter(({ long }) => !without.has(long)).map((option) => oneField(option, onChange));
  return {
    element: h(
      'div',
      { class: 'options' },
      fields.map(({ element }) => element),
    ),
    given: () => fields.flatMap(({ given }) => given()),
  };
}

function oneField(option: OptionChoice, onChange: () => void): OptionFields {
  const { short, long, form, meaning, repeatable } = option;
  const flag = short ?? long;
  const label = short === null ? long : `${long} (${short})`;
  if (form === '') {
    const box = h('input', { type: 'checkbox', id: freshId('option'), onchange: onChange });
    return {
      element: h(
        'div',
        { class: 'field check' },
        box,
        h('label', { for: box.id }, label),
        h('span', { class: 'hint' }, meaning),
      ),
      given: () => (box.checked ? [{ flag, value: '' }] : []),
    };
  }
  const choices = valuesOf(form);
  if (choices !== null) {
    const select = h(
      'select',
      { onchange: onChange },
      h('option', { value: '' }, 'default'),
      choices.map((value) => h('option', { value }, value)),
    );
    return {
      element: field(label, select, meaning),
      given: () => (select.value === '' ? [] : [{ flag, value: select.value }]),
    };
  }
  const isSecret = long.includes('password');
  const input = repeatable
    ? h('textarea', { rows: 1, placeholder: `${form}, one a line`, oninput: onChange, spellcheck: 'false' })
    : h('input', {
        type: isSecret ? 'password' : 'text',
        placeholder: form,
        oninput: onChange,
        spellcheck: 'false',
        autocomplete: 'off',
      });
  return {
    element: field(label, input, meaning),
    given: () =>
      (repeatable ? input.value.split('\n') : [input.value])
        .filter((value) => value.trim() !== '')
        .map((value) => ({
          flag,
          value: isSecret ? value : value.trim(),
          ...(isSecret ? { isSecret } : {}),
        })),
  };
}

/** `a|d|s` and `0..3` say all that is allowed; null for other forms. */
function valuesOf(form: string): string[] | null {
  if (/^[a-z0-9]+(?:\|[a-z0-9]+)+$/.test(form)) return form.split('|');
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(form) ?? [];
  if (from === undefined) return null;
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => String(Number(from) + at));
}
