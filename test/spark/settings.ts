/** Settings of jobs on Spark in tests, and what is seen of one that runs. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { programOf } from '../support/needs.ts';

/** spark-submit; null: there is none */
export const submit = programOf('spark');

/** `work`: folder of what is on its way; `more`: over these. */
export function sparkSettings(
  work: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    'svc.spark.submit': submit!,
    'svc.spark.work': work,
    'svc.spark.conf': 'spark.master=local[2] spark.ui.enabled=false',
    ...more,
  };
}

/** A pass over documents: the folder of the job, its own in that, and how many of its units are done. */
export interface PassUnderWay {
  readonly job: string;
  readonly folder: string;
  readonly done: number;
}

/** Null: no unit of such a pass is done, or the job has ended. */
export async function passUnderWay(work: string, pass: 'load' | 'statistics'): Promise<PassUnderWay | null> {
  for (const name of await readdir(work)) {
    const job = join(work, name);
    const passes = await readdir(job).catch(() => []);
    const own = passes.find((folder) => folder.endsWith(`-${pass}`));
    if (own === undefined) continue;
    const folder = join(job, own);
    const { length: done } = await readdir(join(folder, 'done')).catch(() => []);
    if (done > 0) return { job, folder, done };
  }
  return null;
}
