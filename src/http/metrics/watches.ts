/** Figures of watches, over all organisations: how many there are, and how far they are behind. No label names one. */
import type { WatchStore } from '../../ports/stores/watches.ts';
import { gauge, type Family } from './families.ts';

export async function watchFamilies(watches: Pick<WatchStore, 'watchFigures'>): Promise<Family[]> {
  const { active, paused, stalled, files, oldestWaitingMs } = await watches.watchFigures();
  const states = { active, paused, stalled };
  return [
    gauge(
      'svc_watches',
      'Watches: active, paused, and those that are stalled, paused or not.',
      samplesOf('state', states),
    ),
    gauge('svc_watch_files', 'Files that watches have met, by state.', samplesOf('status', files)),
    gauge(
      'svc_watch_waiting_seconds',
      'How long the file of a watch that waits longest has waited.',
      oldestWaitingMs / 1000,
    ),
  ];
}

function samplesOf(label: string, counts: Readonly<Record<string, number>>) {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}
