/** Shows failures with advice, pending work, and announcements for screen readers. */
import { RefusedRequest } from '../api/refused.ts';
import { fill, h, type Content } from './dom.ts';

/** Shows the message of a failure, with advice. */
export function failureBox(error: unknown): HTMLElement {
  if (!(error instanceof RefusedRequest))
    return h('div', { class: 'notice bad', role: 'alert' }, h('p', {}, messageOf(error)));
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
    if (!signal.aborted) fill(element, failureBox(error));
  }
}

/** Says a line to screen readers without moving the focus. */
export function announce(text: string): void {
  const region = document.querySelector('#announcements');
  if (region !== null) region.textContent = text;
}
