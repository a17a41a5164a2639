/** Starts spark-submit: its settings, its environment, a folder on this machine alone, and its end with the tool. */
import type { ChildProcess } from 'node:child_process';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sparkVariables } from '../../../../config/properties.ts';
import { settingHoldsSecret } from '../../../../jobs/options/spark-settings.ts';

/** A worker waits three seconds after SIGTERM. */
const endMs = 2500;

/** Writes secrets to a private file, because every user can read arguments. */
export async function settingsAsArguments(
  settings: Readonly<Record<string, string>>,
  folder: string,
): Promise<readonly string[]> {
  const entries = Object.entries(settings);
  const open = entries.filter(([name, value]) => !settingHoldsSecret(name, value));
  const argv = open.flatMap(([name, value]) => ['--conf', `${name}=${value}`]);
  const secret = entries.filter(([name, value]) => settingHoldsSecret(name, value));
  if (secret.length === 0) return argv;
  const path = join(folder, 'spark.properties');
  const lines = secret.map(([name, value]) => `${name}=${value.replaceAll('\\', '\\\\')}\n`);
  await writeFile(path, lines.join(''), { mode: 0o600 });
  return ['--properties-file', path, '--load-spark-defaults', ...argv];
}

/**
 * Creates a folder for data that only this machine needs: secrets, and the driver's own files. Folders of tools that were killed are
 * removed.
 */
export async function makeLocalFolder(): Promise<string> {
  const prefix = 'xml2er-spark-';
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid)))
      // another process clears the same folders, or may not remove those of another user
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Returns the environment that gives spark-submit its place and its settings; it contains nothing else of the service's own. */
export async function sparkEnvironment(
  program: string,
  beside: boolean,
  folder: string,
): Promise<NodeJS.ProcessEnv> {
  const kept = Object.entries(process.env).filter(
    ([name]) => /^(?:PATH|HOME|LANG|TZ|USER|TMPDIR|SVC_JOB_MARK)$/.test(name) || sparkVariables.test(name),
  );
  // the Python that a virtual environment's spark-submit belongs to
  const python = join(dirname(program), 'python3');
  const found = await access(python).then(
    () => true,
    () => false,
  );
  return {
    ...(found ? { PYSPARK_PYTHON: python } : {}),
    ...Object.fromEntries(kept),
    // the driver's folder contains a module, and nothing is written there
    PYTHONDONTWRITEBYTECODE: '1',
    // the driver's own files go with the rest, however it ends
    SPARK_SUBMIT_OPTS: `${process.env['SPARK_SUBMIT_OPTS'] ?? ''} -Djava.io.tmpdir=${folder}`.trim(),
    ...(beside ? { XML2ER_PARENT: String(process.pid) } : {}),
  };
}

export interface SubmissionEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

export function endOf(child: ChildProcess): Promise<SubmissionEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/** A person's run clears its folders on its way out. */
export function endWhenInterrupted(interrupted: AbortSignal, child: ChildProcess): () => void {
  const end = (): void => void child.kill('SIGTERM');
  interrupted.addEventListener('abort', end, { once: true });
  return () => interrupted.removeEventListener('abort', end);
}

/** While the application is there, a signal to end ends it first: without its folder the driver stops wherever it is. */
export function endWithSignals(
  child: ChildProcess,
  ended: Promise<SubmissionEnd>,
  folders: readonly string[],
): () => void {
  const remove = async (): Promise<void> => {
    // the load has ended: a folder that cannot be removed does not affect it
    for (const folder of folders) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  };
  const end = (signal: NodeJS.Signals): void => {
    child.kill('SIGTERM');
    void (async () => {
      await remove();
      await Promise.race([ended.catch(() => null), delay(endMs)]);
      // an attempt may have ended meanwhile
      await remove();
      process.exit(signal === 'SIGINT' ? 130 : 143);
    })();
  };
  process.once('SIGTERM', end).once('SIGINT', end);
  return () => void process.off('SIGTERM', end).off('SIGINT', end);
}
