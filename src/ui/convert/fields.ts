/** The form fields beside the files: the schema, the target, and all options of the tools. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { PageChoices } from '../../http/page/choices.ts';
import { field, selectOf, type Choice } from '../parts/controls.ts';
import { fill, h } from '../parts/dom.ts';
import { suggestedTarget, type Chosen, type TargetKind } from './chosen.ts';
import { optionFields, valuesOf } from './options.ts';

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

export interface ConvertFields {
  readonly elements: readonly HTMLElement[];
  chosen(files: Chosen['files']): Chosen;
  /** Shows the fields that apply to the choices, and hides the others. */
  follow(chosen: Chosen): void;
}

export function convertFields(
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
