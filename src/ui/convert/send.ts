/** Sends the files and starts the jobs, with a bar that shows how far it is. */
import { postJson, upload } from '../api/client.ts';
import { fill, h } from '../parts/dom.ts';
import type { Chosen } from './chosen.ts';
import type { InputFile, InputKind } from './inputs.ts';
import { executionsOf, packedName, type PlannedJob } from './plan.ts';
import { tarOf } from './tar.ts';

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
