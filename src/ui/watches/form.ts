/** The form that makes or changes a watch. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import type { WatchRecord } from '../../ports/stores/watches.ts';
import { call, getJson, postJson, RefusedRequest } from '../shell/client.ts';
import { actionButton, failureBox, field, fill, h, notice, selectOf } from '../parts/controls.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';

type Settings = Readonly<Record<string, unknown>>;

/** Settings of a new watch, as the service sets them. */
const defaults: Settings = {
  name: '',
  location: '',
  target: '',
  pattern: null,
  every: '5m',
  settle: '30s',
  id_sch: null,
  order: 'name',
  on_error: 'fail',
  on_drift: 'evolve',
  max_files: 1000,
  max_bytes: 1_073_741_824,
  credential: null,
  options: {},
  paused: false,
};

/** `watch`: null for a new one */
export async function watchForm(
  { main, signal, title }: ViewContext,
  watch: WatchRecord | null,
): Promise<void> {
  const heading = watch === null ? 'New watch' : `Edit ${watch.name}`;
  title(heading);
  const before: Settings = watch === null ? defaults : { ...watch };
  // a key without the scope for schemas names one by its id
  const schemas = await getJson<readonly OriginRecord[]>('v2/schema/all', signal).catch(() => []);
  if (signal.aborted) return;

  const text = (name: string, isRequired = false): HTMLInputElement =>
    h('input', {
      type: 'text',
      value: before[name] === null ? '' : String(before[name]),
      required: isRequired,
      spellcheck: 'false',
      autocomplete: 'off',
    });
  const number = (name: string): HTMLInputElement =>
    h('input', { type: 'number', min: 1, required: true, value: String(before[name]) });
  const choice = (label: string, name: string, choices: readonly (readonly [string, string])[]) =>
    selectOf(
      label,
      choices.map(([value, word]) => ({ value, label: word })),
      String(before[name] ?? ''),
      () => undefined,
    );
  const inputs = {
    name: text('name', true),
    location: text('location', true),
    target: text('target', true),
    pattern: text('pattern'),
    every: text('every', true),
    settle: text('settle', true),
    credential: text('credential'),
    max_files: number('max_files'),
    max_bytes: number('max_bytes'),
  };
  const known = schemas.map(({ id_sch: id, name, version }): readonly [string, string] => [
    String(id),
    `${name}, version ${version}`,
  ]);
  const idBefore = before['id_sch'] === null ? '' : String(before['id_sch']);
  if (idBefore !== '' && !known.some(([id]) => id === idBefore)) known.push([idBefore, `schema ${idBefore}`]);
  const schema = choice('Schema', 'id_sch', [['', 'made from the first documents'], ...known]);
  const order = choice('Order of files', 'order', [
    ['name', 'by name'],
    ['modified', 'by time of change'],
  ]);
  const onError = choice('A bad document', 'on_error', [
    ['fail', 'sets its file aside'],
    ['skip', 'is skipped'],
  ]);
  const onDrift = choice('Content beyond the schema', 'on_drift', [
    ['evolve', 'makes the next version'],
    ['keep', 'is kept in _unmapped'],
    ['fail', 'pauses the watch'],
  ]);
  const options = h('textarea', { rows: 3, spellcheck: 'false' });
  options.value =
    Object.keys(before['options'] as object).length === 0 ? '' : JSON.stringify(before['options'], null, 2);
  const paused = h('input', { type: 'checkbox', id: 'watch-paused', checked: before['paused'] === true });
  const says = h('div');
  const save = actionButton(watch === null ? 'Make the watch' : 'Save', submit, 'main');
  save.type = 'submit';

  fill(
    main,
    h('nav', { class: 'trail', 'aria-label': 'Trail' }, h('a', { href: linkTo(['watches']) }, 'Watches')),
    h('h1', {}, heading),
    h(
      'form',
      { class: 'convert', onsubmit: (event: Event) => event.preventDefault() },
      h(
        'div',
        { class: 'options' },
        field('Name', inputs.name),
        field(
          'Location',
          inputs.location,
          'A folder (inbox), s3://BUCKET/PREFIX/, sftp://USER@HOST/FOLDER/, an https:// file, or a database server.',
        ),
        field(
          'Target',
          inputs.target,
          'As for -o: metadb:NAME, duckdb:FILE, sqlite:FILE, a folder, or another.',
        ),
        schema.field,
        field('Look every', inputs.every, 'A duration (30s, 5m, 1h), or five fields of cron in UTC.'),
        field('Names', inputs.pattern, 'A pattern such as **/*.xml.gz. Empty: all documents and archives.'),
      ),
      h(
        'details',
        {},
        h('summary', {}, 'More settings'),
        h(
          'div',
          { class: 'options' },
          field('Unchanged for', inputs.settle, 'A file is loaded when it has not changed for this time.'),
          order.field,
          onError.field,
          onDrift.field,
          field('Files in one job', inputs.max_files),
          field('Bytes in one job', inputs.max_bytes),
          field('Credential', inputs.credential, 'Name of a stored credential for a bucket or a server.'),
          field('Options', options, [
            'Further options of xml2er as JSON, such as ',
            h('code', {}, '{"--views": true}'),
          ]),
        ),
      ),
      h('span', { class: 'check' }, paused, h('label', { for: paused.id }, 'Paused')),
      says,
      h(
        'div',
        { class: 'row' },
        save,
        h(
          'a',
          { class: 'button', href: linkTo(['watches', ...(watch === null ? [] : [watch.id_watch])]) },
          'Cancel',
        ),
      ),
    ),
  );

  async function submit(): Promise<void> {
    const form = save.form!;
    // a field in a closed part cannot be shown as wrong
    const wrong = form.querySelector<HTMLInputElement>(':invalid');
    wrong?.closest('details')?.setAttribute('open', '');
    if (!form.reportValidity()) return;
    let given: unknown;
    try {
      given = options.value.trim() === '' ? {} : JSON.parse(options.value);
    } catch (error) {
      options.closest('details')?.setAttribute('open', '');
      fill(says, notice('bad', `The options are not JSON: ${(error as Error).message}`));
      options.focus();
      return;
    }
    const settings: Settings = {
      name: inputs.name.value.trim(),
      location: inputs.location.value.trim(),
      target: inputs.target.value.trim(),
      pattern: orNull(inputs.pattern),
      every: inputs.every.value.trim(),
      settle: inputs.settle.value.trim(),
      id_sch: schema.input.value === '' ? null : Number(schema.input.value),
      order: order.input.value,
      on_error: onError.input.value,
      on_drift: onDrift.input.value,
      max_files: Number(inputs.max_files.value),
      max_bytes: Number(inputs.max_bytes.value),
      credential: orNull(inputs.credential),
      options: given,
      paused: paused.checked,
    };
    try {
      location.hash = linkTo(['watches', await store(settings)]);
    } catch (error) {
      fill(says, failureBox(error));
      if (
        error instanceof RefusedRequest &&
        error.errors.some(({ pointer }) => pointer.startsWith('/options'))
      )
        options.closest('details')?.setAttribute('open', '');
    }
  }

  /** Sends only the changed members: a password in the location is shown masked, and must stay as it is. */
  async function store(settings: Settings): Promise<number> {
    if (watch === null) return (await postJson<WatchRecord>('v2/watches', settings)).id_watch;
    const changes = Object.entries(settings).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
    );
    if (changes.length > 0)
      await call(`v2/watches/${watch.id_watch}`, { method: 'PATCH', body: Object.fromEntries(changes) });
    return watch.id_watch;
  }
}

function orNull(input: HTMLInputElement): string | null {
  return input.value.trim() || null;
}
