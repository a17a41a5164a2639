/** The place that files are dropped on, and the list of those that were. */
import { fill, h } from '../parts/dom.ts';
import { bytes, counted } from '../parts/format.ts';
import { announce, failureBox } from '../parts/notices.ts';
import {
  chosenFiles,
  droppedFiles,
  mostFiles,
  sortInputs,
  type InputFile,
  type InputKind,
} from './inputs.ts';

/** more are counted, not listed */
const listed = 50;

export interface FilePicker {
  readonly element: HTMLElement;
  files(): Readonly<Record<InputKind, readonly InputFile[]>>;
}

export function filePicker(onChange: () => void, signal: AbortSignal): FilePicker {
  let inputs: readonly InputFile[] = [];
  const list = h('div');
  const says = h('div');
  const choose = h('input', {
    type: 'file',
    multiple: true,
    class: 'sr',
    tabindex: '-1',
    'aria-label': 'Choose files',
    onchange: () => add(chosenFiles(choose.files!)),
  });
  const folder = h('input', {
    type: 'file',
    webkitdirectory: true,
    class: 'sr',
    tabindex: '-1',
    'aria-label': 'Choose a folder',
    onchange: () => add(chosenFiles(folder.files!)),
  });
  const zone = h(
    'div',
    { class: 'drop' },
    h('p', {}, h('strong', {}, 'Drop XML documents, XSD files, folders or archives here')),
    h(
      'p',
      { class: 'hint' },
      'XSD files make the schema; without them it is inferred from the documents. Archives: .zip, .tar, .tgz, and .gz of one file.',
    ),
    h(
      'div',
      { class: 'row wrap middle' },
      h('button', { type: 'button', onclick: () => choose.click() }, 'Choose files'),
      h('button', { type: 'button', onclick: () => folder.click() }, 'Choose a folder'),
    ),
    choose,
    folder,
  );
  const over =
    (is: boolean) =>
    (event: DragEvent): void => {
      event.preventDefault();
      zone.classList.toggle('over', is);
    };
  // a file that misses the place must not take the page away
  for (const name of ['dragover', 'dragenter'] as const) addEventListener(name, over(true), { signal });
  addEventListener('dragleave', over(false), { signal });
  addEventListener(
    'drop',
    (event) => {
      over(false)(event);
      if (event.dataTransfer !== null)
        void droppedFiles(event.dataTransfer).then(add, (error: unknown) => fill(says, failureBox(error)));
    },
    { signal },
  );
  show();
  return {
    element: h('div', {}, zone, says, list),
    files: () => ({
      xml: inputs.filter(({ kind }) => kind === 'xml'),
      xsd: inputs.filter(({ kind }) => kind === 'xsd'),
    }),
  };

  function add(files: readonly { readonly path: string; readonly file: File }[]): void {
    fill(says);
    if (files.length > mostFiles)
      return fill(
        says,
        failureBox(
          new Error(`These are more than ${mostFiles} files: put them into an archive, and drop that.`),
        ),
      );
    // the same path again is the same file, newer
    const byPath = new Map([...inputs, ...files].map(({ path, file }) => [path, { path, file }]));
    const kinds = new Map(inputs.map(({ path, kind }) => [path, kind]));
    inputs = sortInputs([...byPath.values()]).map((one) =>
      one.isArchive ? { ...one, kind: kinds.get(one.path) ?? one.kind } : one,
    );
    choose.value = '';
    folder.value = '';
    announce(`${counted(files.length, 'file')} added`);
    show();
    onChange();
  }

  function change(next: readonly InputFile[]): void {
    inputs = next;
    show();
    onChange();
  }

  function show(): void {
    if (inputs.length === 0) return fill(list);
    const size = inputs.reduce((sum, { file }) => sum + file.size, 0);
    fill(
      list,
      h(
        'div',
        { class: 'heading' },
        h('h2', {}, `${counted(inputs.length, 'file')}, ${bytes(size)}`),
        h('button', { type: 'button', class: 'quiet', onclick: () => change([]) }, 'Remove all'),
      ),
      h('ul', { class: 'files' }, inputs.slice(0, listed).map(item)),
      inputs.length > listed
        ? h('p', { class: 'hint' }, `and ${counted(inputs.length - listed, 'more file')}`)
        : null,
    );
  }

  function item(input: InputFile): HTMLElement {
    const { path, file, kind, isArchive } = input;
    const turn = (): void =>
      change(inputs.map((one) => (one === input ? { ...one, kind: kind === 'xml' ? 'xsd' : 'xml' } : one)));
    return h(
      'li',
      {},
      isArchive
        ? h(
            'button',
            { type: 'button', class: 'small', title: 'Press to change what is in it', onclick: turn },
            kind === 'xsd' ? 'XSD set' : 'documents',
          )
        : h('span', { class: `badge ${kind === 'xsd' ? 'busy' : 'idle'}` }, kind === 'xsd' ? 'XSD' : 'XML'),
      h('span', { class: 'path' }, path),
      h('span', { class: 'hint' }, bytes(file.size)),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet small',
          'aria-label': `Remove ${path}`,
          onclick: () => change(inputs.filter((one) => one !== input)),
        },
        '×',
      ),
    );
  }
}
