/** From dropped files to rows: what is uploaded, by which schema it is read, where the rows go. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { readChoices } from '../api/choices.ts';
import { getJson, postJson, serviceUrl, upload } from '../api/client.ts';
import { keptKey } from '../api/key.ts';
import { codeBlock, field, selectOf } from '../parts/controls.ts';
import { fill, freshId, h } from '../parts/dom.ts';
import { failureBox, notice } from '../parts/notices.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { filePicker } from './files.ts';
import type { InputFile, InputKind } from './inputs.ts';
import { optionFields, valuesOf } from './options.ts';
import {
  commandText,
  curlText,
  executionsOf,
  packedName,
  type PlannedOption,
  type PlannedJob,
} from './plan.ts';
import { tarOf } from './tar.ts';

type TargetKind = 'metadb' | 'other' | 'none';

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
  w: 'make the tables alone',
  p: 'print the DDL alone',
};

/** have a field of their own */
const placed = new Set(['--out', '--origin', '--format', '--savemode', '--name', '--map']);

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
  const schema = selectOf('Schema', schemaChoices(false), '', update);
  const name = h('input', {
    type: 'text',
    placeholder: 'from the input',
    oninput: () => update(),
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const level = selectOf('Tables', levelChoices(), '', update);
  const target = selectOf('Rows go to', targets, 'metadb', update);
  const targetInput = h('input', {
    type: 'text',
    oninput: () => update(),
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const targetField = field('Name', targetInput, 'a new one, or one that this schema was loaded into before');
  const format = selectOf('Format', [{ value: '', label: 'default' }, ...formsOf('--format')], '', update);
  const mode = selectOf(
    'If it exists',
    formsOf('--savemode').map(({ value }) => ({
      value: value === 'a' ? '' : value,
      label: saveModes[value] ?? value,
    })),
    '',
    update,
  );
  const forSchema = optionFields(choices.tools.xsd2er, placed, update);
  const forLoad = optionFields(choices.tools.xml2er, placed, update);
  const schemaDetails = h('details', {}, h('summary', {}, 'All options of xsd2er'), forSchema.element);
  const loadDetails = h('details', {}, h('summary', {}, 'All options of xml2er'), forLoad.element);
  const loadFields = h(
    'fieldset',
    {},
    h('legend', {}, 'Target'),
    h('div', { class: 'fields' }, target.field, targetField, format.field, mode.field),
  );
  const equivalents = h('div');
  const says = h('div');
  const start = h('button', { type: 'submit', class: 'main' }, 'Convert');
  const missing = h('span', { class: 'hint', id: freshId('missing') });
  start.setAttribute('aria-describedby', missing.id);

  fill(
    main,
    h('h1', {}, 'Convert'),
    actions.commands
      ? null
      : notice(
          'info',
          h(
            'p',
            {},
            h('strong', {}, 'Commands are switched off: '),
            'jobs cannot be started here. Start the service with ',
            h('code', {}, 'SVC_CMD_ENABLED=true'),
            ', or set ',
            h('code', {}, 'cmd.enabled=true'),
            ' in conf/backend.properties.',
          ),
        ),
    h(
      'form',
      { class: 'convert', onsubmit: (event: Event) => (event.preventDefault(), void run()) },
      picker.element,
      h(
        'fieldset',
        {},
        h('legend', {}, 'Schema'),
        h('div', { class: 'fields' }, schema.field, field('Name', name), level.field),
      ),
      loadFields,
      schemaDetails,
      loadDetails,
      h('div', { class: 'row start' }, start, missing),
      says,
    ),
    equivalents,
  );
  let hadXsd = false;
  update();

  function formsOf(long: string): { value: string; label: string }[] {
    const form = choices.tools.xml2er.find((option) => option.long === long)?.form ?? '';
    return (valuesOf(form) ?? []).map((value) => ({ value, label: value }));
  }

  function schemaChoices(withXsd: boolean): { value: string; label: string }[] {
    return [
      withXsd
        ? { value: '', label: 'of the XSD files' }
        : { value: '', label: 'inferred from the documents' },
      ...schemas.toReversed().map(({ id_sch: id, name: own, version }) => ({
        value: String(id),
        label: `${own}, version ${version}, id ${id}`,
      })),
    ];
  }

  /** The jobs as they are chosen now. */
  function plan(): PlannedJob[] {
    const { xml, xsd } = picker.files();
    const makesFromXsd = xsd.length > 0 && schema.input.value === '';
    const makes: PlannedOption[] = [
      ...(name.value.trim() === '' ? [] : [{ flag: '--name', value: name.value.trim() }]),
      ...(level.input.value === '' ? [] : [{ flag: '-g', value: level.input.value }]),
    ];
    const runs: PlannedJob[] = [];
    if (makesFromXsd)
      runs.push({ tool: 'xsd2er', input: 'xsd', origin: null, options: [...makes, ...forSchema.given()] });
    if (xml.length > 0) {
      const origin = schema.input.value !== '' ? schema.input.value : makesFromXsd ? '$0' : null;
      runs.push({
        tool: 'xml2er',
        input: 'xml',
        origin,
        options: [...(origin === null ? makes : []), ...targetOptions(), ...forLoad.given()],
      });
    }
    return runs;
  }

  function targetOptions(): PlannedOption[] {
    const kind = target.input.value as TargetKind;
    if (kind === 'none') return [];
    const where = targetInput.value.trim();
    return [
      { flag: '-o', value: kind === 'metadb' ? `metadb:${where === '' ? suggestedName() : where}` : where },
      ...(kind === 'other' && format.input.value !== '' ? [{ flag: '-f', value: format.input.value }] : []),
      ...(mode.input.value === '' ? [] : [{ flag: '-S', value: mode.input.value }]),
    ];
  }

  /** A SQL schema needs a name; one that nobody gave is made of the schema's or of the first file's. */
  function suggestedName(): string {
    const { xml, xsd } = picker.files();
    const known = schemas.find(({ id_sch: id }) => String(id) === schema.input.value)?.name;
    const words = name.value.trim() || known || (xsd[0] ?? xml[0])?.file.name.replace(/\..*$/, '') || 'rows';
    const plain = words
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, 40);
    return /^[a-z]/.test(plain) ? plain : `rows_${plain}`.replace(/_$/, '');
  }

  function update(): void {
    const files = picker.files();
    const hasXsd = files.xsd.length > 0;
    if (hasXsd !== hadXsd) {
      hadXsd = hasXsd;
      const chosen = schema.input.value;
      fill(
        schema.input,
        schemaChoices(hasXsd).map(({ value, label }) =>
          h('option', { value, selected: value === chosen }, label),
        ),
      );
    }
    const makes = schema.input.value === '';
    const hasXml = files.xml.length > 0;
    const kind = target.input.value as TargetKind;
    name.disabled = !makes;
    level.input.disabled = !makes;
    schemaDetails.hidden = !(hasXsd && makes);
    loadDetails.hidden = !hasXml && hasXsd;
    loadFields.hidden = !hasXml && hasXsd;
    targetField.hidden = kind === 'none';
    targetField.querySelector('label')!.textContent = kind === 'metadb' ? 'SQL schema' : 'Target';
    targetField.querySelector('.hint')!.textContent =
      kind === 'metadb'
        ? 'a new one, or one that this schema was loaded into before'
        : 'such as postgresql://HOST/DATABASE?schema=S, duckdb:FILE, or a folder';
    targetInput.placeholder = kind === 'metadb' ? suggestedName() : 'postgresql://…, duckdb:…, folder';
    format.field.hidden = kind !== 'other';
    mode.field.hidden = kind === 'none';
    const lack = whatLacks(files);
    start.disabled = lack !== '' || !actions.commands;
    missing.textContent = actions.commands ? lack : '';
    const runs = plan();
    fill(
      equivalents,
      runs.length === 0
        ? null
        : h(
            'section',
            { 'aria-label': 'The same without this page' },
            h('h2', {}, 'The same without this page'),
            h('h3', {}, 'curl'),
            codeBlock('The same with curl', curlText(runs, files, serviceUrl, keptKey() !== null)),
            h('h3', {}, 'Command line'),
            codeBlock('The same on the command line', commandText(runs, files)),
          ),
    );
  }

  function whatLacks({ xml, xsd }: Readonly<Record<InputKind, readonly InputFile[]>>): string {
    if (xml.length === 0 && xsd.length === 0) return 'Drop a file first.';
    if (xml.length === 0 && schema.input.value !== '')
      return 'A schema that is there needs documents to read by it.';
    if (xml.length > 0 && target.input.value === 'other' && targetInput.value.trim() === '')
      return 'Say where the rows go.';
    return '';
  }

  async function run(): Promise<void> {
    const files = picker.files();
    const runs = plan();
    start.disabled = true;
    const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
    const step = h('span', { role: 'status' });
    fill(says, h('p', { class: 'row' }, bar, step));
    try {
      const paths: Partial<Record<InputKind, string>> = {};
      for (const kind of new Set(runs.map(({ input }) => input))) {
        const ofKind = files[kind];
        const [one] = ofKind;
        const sent =
          ofKind.length === 1
            ? { name: one!.file.name, content: one!.file }
            : { name: packedName(kind), content: tarOf(ofKind) };
        step.textContent = `Uploading ${sent.name} …`;
        paths[kind] = await upload(kind, sent.name, sent.content, (share) => (bar.value = share), signal);
      }
      step.textContent = 'Starting …';
      const { jobs } = await postJson<{ jobs: readonly number[] }>('v2/run/cmd', executionsOf(runs, paths));
      if (!signal.aborted) location.hash = linkTo(['jobs', jobs.at(-1)!]);
    } catch (error) {
      if (!signal.aborted) fill(says, failureBox(error));
    } finally {
      start.disabled = false;
    }
  }
}

function levelChoices(): { value: string; label: string }[] {
  return [
    { value: '', label: 'as a person would draw them' },
    { value: '0', label: '0: a table for each element' },
    { value: '1', label: '1: single children fold into their parent' },
    { value: '2', label: '2: a type that recurs is one table' },
    { value: '3', label: '3: both' },
  ];
}
