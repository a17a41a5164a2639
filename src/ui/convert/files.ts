/** The place that files are dropped on, and the list of those that were. */
import { fill, h, bytes, counted, announce, failureBox } from '../parts/controls.ts';
import {
  chosenFiles,
  droppedFiles,
  mostFiles,
  sortInputs,
  type InputFile,
  type InputKind,
  type Chosen,
  executionsOf,
  packedName,
  type PlannedJob,
} from './plan.ts';
import { postJson, upload } from '../shell/client.ts';

/** more are counted, not listed */
const listed = 50;

interface FilePicker {
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

// Several files as one upload: a tar archive that is put together of the files themselves, without reading them.

interface Member {
  readonly path: string;
  readonly file: Blob;
}

const block = 512;
const encoder = new TextEncoder();

function tarOf(members: readonly Member[]): Blob {
  const parts: BlobPart[] = members.flatMap(({ path, file }) => [
    ...pathHeader(path),
    header(path, file.size, '0'),
    file,
    padding(file.size),
  ]);
  return new Blob([...parts, new Uint8Array(2 * block)], { type: 'application/x-tar' });
}

/** Returns a pax header (POSIX.1-2001) for a name that is too long for the old header, or has other characters. */
function pathHeader(path: string): BlobPart[] {
  if (/^[\x20-\x7e]{1,99}$/.test(path)) return [];
  const content = encoder.encode(` path=${path}\n`);
  let length = content.length + 1;
  // the number counts its own digits, too
  while (String(length).length + content.length !== length) length = String(length).length + content.length;
  const record = encoder.encode(`${length} path=${path}\n`);
  return [header('path', record.length, 'x'), record, padding(record.length)];
}

function header(path: string, size: number, type: '0' | 'x'): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(block);
  const put = (text: string, at: number, length: number): void => {
    bytes.set(encoder.encode(text).subarray(0, length), at);
  };
  put(path.replaceAll(/[^\x20-\x7e]/g, '_'), 0, 99);
  put('0000644\0', 100, 8);
  put('0000000\0', 108, 8);
  put('0000000\0', 116, 8);
  putSize(bytes, size);
  put('00000000000\0', 136, 12);
  put('        ', 148, 8);
  put(type, 156, 1);
  put('ustar\u000000', 257, 8);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8);
  return bytes;
}

/** Eleven octal digits reach to 8 GiB; beyond, the number is binary, as GNU tar has it. */
function putSize(bytes: Uint8Array, size: number): void {
  if (size < 8 ** 11) {
    bytes.set(encoder.encode(`${size.toString(8).padStart(11, '0')}\0`), 124);
    return;
  }
  bytes[124] = 0x80;
  new DataView(bytes.buffer).setBigUint64(128, BigInt(size));
}

function padding(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((block - (size % block)) % block);
}

// Sends the files and starts the jobs, with a bar that shows how far it is.

/** Returns the ids of the jobs, in their order; `shown`: element that shows progress. */
export async function sendAndStart(
  jobs: readonly PlannedJob[],
  files: Chosen['files'],
  shown: HTMLElement,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
  const step = h('span', { role: 'status' });
  fill(shown, h('p', { class: 'row' }, bar, step));
  const paths: Partial<Record<InputKind, string>> = {};
  for (const kind of new Set(jobs.map(({ input }) => input))) {
    const { name, content } = parcelOf(kind, files[kind]);
    step.textContent = `Uploading ${name} …`;
    paths[kind] = await upload(kind, name, content, (share) => (bar.value = share), signal);
  }
  step.textContent = 'Starting …';
  const started = await postJson<{ jobs: readonly number[] }>('v2/run/cmd', executionsOf(jobs, paths));
  return started.jobs;
}

/** Packs the files: one file is sent unchanged, several as an archive. */
function parcelOf(kind: InputKind, files: readonly InputFile[]): { name: string; content: Blob } {
  const [one, second] = files;
  return second === undefined
    ? { name: one!.file.name, content: one!.file }
    : { name: packedName(kind), content: tarOf(files) };
}
