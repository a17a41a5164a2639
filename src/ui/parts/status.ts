/** States of jobs, in words and colours; never in colours alone. */
import type { ShownJob } from '../api/shapes.ts';
import { h } from './dom.ts';

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

export const stateFilters: readonly { readonly value: string; readonly label: string }[] = [
  { value: '', label: 'All states' },
  { value: 'QRWT', label: 'Not ended' },
  { value: 'C', label: 'Completed' },
  { value: 'FEL', label: 'Failed, expired or lost' },
  { value: 'K', label: 'Killed' },
];
