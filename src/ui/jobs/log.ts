/** The log of a job, as it is written. */
import { call } from '../api/client.ts';
import { followEvents } from '../api/events.ts';
import { actionButton, copyButton, saveFile } from '../parts/controls.ts';
import { h } from '../parts/dom.ts';
import { failureBox } from '../parts/notices.ts';

/** more than this is not shown, but downloaded */
const mostCharacters = 2_000_000;
const retryMs = 2000;

/** `onEnd` is called when the job has ended. */
export function logPanel(idJob: number, signal: AbortSignal, onEnd: () => void): HTMLElement {
  const path = `v2/executions/log/${idJob}`;
  const text = h('pre', { class: 'log', tabindex: '0', role: 'log', 'aria-label': `Log of job ${idJob}` });
  const follow = h('input', { type: 'checkbox', id: `follow-${idJob}`, checked: true });
  const says = h('div');
  void read();
  return h(
    'section',
    { 'aria-label': 'Log' },
    h(
      'div',
      { class: 'heading' },
      h('h2', {}, 'Log'),
      h(
        'div',
        { class: 'row' },
        h('span', { class: 'check' }, follow, h('label', { for: follow.id }, 'Follow')),
        actionButton(
          'Download',
          async () => saveFile(`job-${idJob}.log`, await (await call(path, { accept: 'text/plain' })).blob()),
          'small',
        ),
        copyButton(() => text.textContent ?? ''),
      ),
    ),
    says,
    text,
  );

  /** Reads the log; a broken connection is resumed where it ended. */
  async function read(offset = '0'): Promise<void> {
    let next = offset;
    try {
      for await (const { id, event, data } of followEvents(`${path}?offset=${offset}`, signal)) {
        if (event === 'end') {
          if (text.textContent === '') text.textContent = 'The log is empty.';
          return onEnd();
        }
        next = id;
        show(data);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof TypeError) setTimeout(() => !signal.aborted && void read(next), retryMs);
      else says.replaceChildren(failureBox(error));
      return;
    }
    if (!signal.aborted) setTimeout(() => void read(next), retryMs);
  }

  function show(piece: string): void {
    text.append(piece);
    const over = (text.textContent?.length ?? 0) - mostCharacters;
    if (over > 0) text.textContent = `… the beginning is in the download …\n${text.textContent!.slice(over)}`;
    if (follow.checked) text.scrollTop = text.scrollHeight;
  }
}
