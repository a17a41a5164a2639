/** Things to press and to fill in. */
import { type ShownJob, RefusedRequest } from '../shell/client.ts';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function selectOf(
  label: string,
  choices: readonly Choice[],
  chosen: string,
  onChange: (value: string) => void,
): { readonly field: HTMLElement; readonly input: HTMLSelectElement } {
  const input = h(
    'select',
    { id: freshId('select'), onchange: () => onChange(input.value) },
    choices.map(({ value, label: text }) => h('option', { value, selected: value === chosen }, text)),
  );
  return { field: field(label, input), input };
}

export function field(label: string, input: HTMLElement, hint?: Content): HTMLElement {
  const hintId = hint === undefined ? null : freshId('hint');
  if (input.id === '') input.id = freshId('field');
  if (hintId !== null) input.setAttribute('aria-describedby', hintId);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: input.id }, label),
    input,
    hintId === null ? null : h('span', { id: hintId, class: 'hint' }, hint),
  );
}

export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Links to the parts of a view. On a phone they scroll sideways, to the current one first. */
export function tabBar(label: string, tabs: readonly Tab[]): HTMLElement {
  const bar = h(
    'nav',
    { class: 'tabs', 'aria-label': label },
    tabs.map(({ label: text, href, isCurrent }) =>
      h('a', { href, 'aria-current': isCurrent ? 'page' : null }, text),
    ),
  );
  requestAnimationFrame(() => showCurrent(bar));
  return bar;
}

/** Scrolls a box of links to its current one, and nothing around it. */
export function showCurrent(box: HTMLElement): void {
  const current = box.querySelector('[aria-current]');
  if (current === null) return;
  const at = current.getBoundingClientRect();
  const seen = box.getBoundingClientRect();
  if (at.left < seen.left || at.right > seen.right) box.scrollLeft += at.left - seen.left;
  if (at.top < seen.top || at.bottom > seen.bottom) box.scrollTop += at.top - seen.top;
}

export function searchField(label: string, onInput: (text: string) => void, value = ''): HTMLElement {
  const input = h('input', {
    type: 'search',
    value,
    placeholder: label,
    'aria-label': label,
    spellcheck: 'false',
    oninput: () => onInput(input.value.trim().toLowerCase()),
  });
  return input;
}

/** The name of a file, folder or target. */
export function pathText(text: string): HTMLElement {
  return h('span', { class: 'path' }, text);
}

/** Text in a fixed width with a button that copies it. */
export function codeBlock(label: string, text: string): HTMLElement {
  return h(
    'div',
    { class: 'code' },
    copyButton(() => text),
    h('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text),
  );
}

export function copyButton(text: () => string, label = 'Copy'): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'small copy', onclick: () => void copy() }, label);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
      announce('Copied');
    } catch {
      // an address without TLS has no clipboard
      button.textContent = 'Select the text and copy it';
    }
    setTimeout(() => (button.textContent = label), 2000);
  };
  return button;
}

/** A button that does something that takes a while: it cannot be pressed again meanwhile. */
export function actionButton(label: string, act: () => Promise<void>, kind = ''): HTMLButtonElement {
  const button = h(
    'button',
    {
      type: 'button',
      class: kind,
      onclick: () => {
        button.disabled = true;
        void act().finally(() => (button.disabled = false));
      },
    },
    label,
  );
  return button;
}

/** Whether somebody says yes to a question. */
export function confirm(question: string, yes: string, ...more: Content[]): Promise<boolean> {
  return new Promise((resolve) => {
    const heading = freshId('question');
    const dialog = h(
      'dialog',
      {
        'aria-labelledby': heading,
        onclose: () => {
          dialog.remove();
          resolve(dialog.returnValue === 'yes');
        },
      },
      h('h2', { id: heading }, question),
      more,
      h(
        'div',
        { class: 'row end' },
        h('button', { type: 'button', onclick: () => dialog.close('no') }, 'Cancel'),
        h('button', { type: 'button', class: 'danger', onclick: () => dialog.close('yes') }, yes),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Hands bytes to the browser's downloads. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// Creates elements without markup: names from documents, files and people remain text.

export type Content = Node | string | number | null | undefined | false | readonly Content[];

type Handler = (event: never) => void;
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined | Handler>>;

/** An element; `onclick` and its like are listeners, `true` is an attribute without a value, `false` and null are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...content: Content[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, content);
  return element;
}

/** The same for drawings. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...content: Content[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  append(element, content);
  return element;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
}

function append(element: Element, content: readonly Content[]): void {
  for (const one of content) {
    if (Array.isArray(one)) append(element, one as readonly Content[]);
    else if (one instanceof Node) element.append(one);
    else if (typeof one === 'string' || typeof one === 'number') element.append(String(one));
  }
}

/** Replaces the content of an element. */
export function fill(element: Element, ...content: Content[]): void {
  element.replaceChildren();
  append(element, content);
}

let counter = 0;

/** An id that no other element of the page has. */
export function freshId(word: string): string {
  counter += 1;
  return `${word}-${counter}`;
}

// Numbers, sizes and times as people read them.

const language = 'en-GB';
const plain = new Intl.NumberFormat(language);
const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });

export function count(value: number): string {
  return plain.format(value);
}

/** `1 table`, `2 tables` */
export function counted(value: number, word: string): string {
  return `${count(value)} ${nounOf(value, word)}`;
}

/** `table` for 1, `tables` for every other number */
export function nounOf(value: number, word: string): string {
  return value === 1 ? word : `${word}s`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length, Math.floor(Math.log2(value) / 10));
  return `${(value / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function moment(epochMs: number): string {
  return dateTime.format(epochMs);
}

/** `3 minutes ago`; the time itself if that is days ago */
export function ago(epochMs: number): string {
  const seconds = Math.round((epochMs - Date.now()) / 1000);
  if (seconds > -45) return 'just now';
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), 'minute');
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), 'hour');
  if (seconds > -7 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day');
  return moment(epochMs);
}

// States of jobs, in words and colours; never in colours alone.

const states: Readonly<
  Record<ShownJob['status'], { readonly word: string; readonly kind: 'idle' | 'busy' | 'good' | 'bad' }>
> = {
  Q: { word: 'queued', kind: 'idle' },
  R: { word: 'running', kind: 'busy' },
  W: { word: 'waiting for another attempt', kind: 'idle' },
  T: { word: 'ending', kind: 'busy' },
  C: { word: 'completed', kind: 'good' },
  F: { word: 'failed', kind: 'bad' },
  K: { word: 'killed', kind: 'bad' },
  E: { word: 'expired', kind: 'bad' },
  L: { word: 'lost', kind: 'bad' },
};

export function stateWord(status: ShownJob['status']): string {
  return states[status]?.word ?? status;
}

export function hasEnded(status: ShownJob['status']): boolean {
  return !'QRWT'.includes(status);
}

export function stateBadge(status: ShownJob['status']): HTMLElement {
  return h('span', { class: `badge ${states[status]?.kind ?? 'idle'}` }, stateWord(status));
}

/** Shows the progress of a job; null if there is none to show. */
export function progressBar({ status, progress, id_job: id }: ShownJob): HTMLElement | null {
  if (hasEnded(status) || progress === null) return null;
  const percent = Math.round(progress * 100);
  return h(
    'span',
    { class: 'progress' },
    h('progress', { max: 100, value: percent, 'aria-label': `Progress of job ${id}` }),
    ` ${percent} %`,
  );
}

export const stateFilters: readonly Choice[] = [
  { value: '', label: 'All states' },
  ...Object.entries(states).map(([value, { word }]) => ({ value, label: capitalised(word) })),
];

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Shows failures with advice, pending work, and announcements for screen readers.

/** Shows the message of a failure, with advice, and a button for another attempt. */
export function failureBox(error: unknown, retry?: () => void): HTMLElement {
  const again =
    retry === undefined
      ? null
      : h('p', {}, h('button', { type: 'button', class: 'small', onclick: retry }, 'Try again'));
  if (!(error instanceof RefusedRequest))
    return h('div', { class: 'notice bad', role: 'alert' }, h('p', {}, messageOf(error)), again);
  return h(
    'div',
    { class: 'notice bad', role: 'alert' },
    h('p', {}, h('strong', {}, error.title), error.detail === '' ? null : ': ', error.detail),
    error.errors.length > 1
      ? h(
          'ul',
          {},
          error.errors.map(({ pointer, detail }) => h('li', {}, h('code', {}, pointer), ' ', detail)),
        )
      : null,
    error.advice === null ? null : h('p', {}, error.advice),
    again,
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function notice(kind: 'info' | 'good' | 'bad', ...content: Content[]): HTMLElement {
  return h('div', { class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : 'status' }, content);
}

export function empty(...content: Content[]): HTMLElement {
  return h('div', { class: 'empty' }, content);
}

export function waiting(text = 'Loading …'): HTMLElement {
  return h('p', { class: 'waiting', role: 'status' }, text);
}

/** Fills an element with the result of a promise, or with the reason of its failure. Does nothing after `signal`. */
export async function fillLater(
  element: Element,
  signal: AbortSignal,
  content: () => Promise<Content>,
): Promise<void> {
  fill(element, waiting());
  try {
    const brought = await content();
    if (!signal.aborted) fill(element, brought);
  } catch (error) {
    if (!signal.aborted)
      fill(
        element,
        failureBox(error, () => void fillLater(element, signal, content)),
      );
  }
}

/** Says a line to screen readers without moving the focus. */
export function announce(text: string): void {
  const region = document.querySelector('#announcements');
  if (region !== null) region.textContent = text;
}
