/** One application on Spark from the side of the tool: spark-submit, its log and its end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sparkVariables } from '../../../config/spark.ts';
import { AppError } from '../../../errors.ts';
import { settingHoldsSecret } from '../../../jobs/options/spark-settings.ts';
import { followFile } from './follow-file.ts';
import { createDiagnosis, requireMaster } from './diagnosis.ts';
import type { ToolSession } from '../../session/tool-session.ts';

const scripts = new URL('../../../../scripts/spark/', import.meta.url);
const driver = fileURLToPath(new URL('driver.py', scripts));
/** the module of it that executors get */
const engine = fileURLToPath(new URL('xml2er_engine.py', scripts));

/** The driver takes the tool for gone after a minute without. */
const leaseMs = 2000;
/** From SIGTERM a worker waits three seconds. */
const endMs = 2500;

/** Both streams through one pipe: what is written first stands first. The arguments are the program's, no shell reads them. */
const bothStreams = ['-c', 'exec "$0" "$@" 2>&1'];

/** What executors start for units: Node and a launcher in `src/tools/bin`, where the operator says that these lie there. */
export function taskCommand({ home }: ToolSession, module: 'spark-task' | 'spark-statistics-task'): string[] {
  const { node, package: folder } = home.config.spark;
  const file = `bin/${module}.mjs`;
  const here = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  return [node ?? process.execPath, folder === null ? here : `${folder}/src/tools/${file}`];
}

/**
 * Runs the units of the work folder to their end: `job.json` there says with what. The driver ends with this process, however that
 * ends. `progress`: 0 … 1. AppError: what went wrong, and what to do; `service_unavailable` where another attempt may go better.
 */
export async function runUnitsOnSpark(
  session: ToolSession,
  work: string,
  units: number,
  progress: (fraction: number) => void,
): Promise<void> {
  const { spark } = session.home.config;
  const program = spark.submit!;
  const settings = { ...spark.conf, ...session.request.sparkConf };
  await access(program, constants.X_OK).catch(() => {
    const what = `${program} is no program: install Apache Spark 4 (pip install pyspark), and name its spark-submit`;
    throw new AppError('invalid_option', `svc.spark.submit: ${what}`);
  });
  await requireMaster(settings['spark.master']!);
  // in cluster mode the driver runs elsewhere, and says what it has to say in a file
  const beside = settings['spark.submit.deployMode'] !== 'cluster';
  const local = await makeLocalFolder();
  const diagnosis = createDiagnosis(settings['spark.master']!);
  const lease = keepLease(work);
  const reports: Promise<void>[] = [];
  const take = (line: string): void => {
    if (!line.startsWith('@spark ')) {
      session.log(line);
      const hint = diagnosis.read(line);
      if (hint !== null) session.log(hint);
      return;
    }
    const facts = JSON.parse(line.slice(7)) as Facts;
    if (facts.application !== undefined) {
      session.log(`Spark application ${facts.application} on ${facts.master}`);
      // the name of the application is a help for people: the load goes on without it
      reports.push(session.report({ idApp: facts.application }).catch(() => undefined));
    }
    if (facts.done !== undefined) progress(facts.done / units);
    if (facts.failure !== undefined) diagnosis.readUnit(facts.failure);
  };
  try {
    const argv = [...(await settingsAsArguments(settings, local)), '--py-files', engine, driver, work];
    const child = spawn('/bin/sh', [...bothStreams, program, ...argv], {
      env: await sparkEnvironment(program, beside, local),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = endOf(child);
    const stop = session.byHand
      ? endWhenInterrupted(session.interrupted, child)
      : endWithSignals(child, ended, [work, local]);
    const log = beside ? null : followFile(join(work, 'driver.log'), take);
    try {
      for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) take(line);
    } catch (error) {
      child.kill('SIGTERM');
      throw error;
    } finally {
      await ended;
      await log?.end();
      stop();
    }
    const { code, signal } = await ended;
    await Promise.all(reports);
    if (code === 0) return;
    const { reason, passes } = diagnosis;
    if (reason !== null)
      throw new AppError(passes ? 'service_unavailable' : 'unprocessable_input', `Spark: ${reason}`);
    const how =
      signal === null && code !== null && code < 128
        ? `with ${code}`
        : `by ${signal ?? `signal ${code! - 128}`}`;
    const said = `spark-submit ended ${how}: the job's log has its reasons`;
    throw new AppError(how.startsWith('by') ? 'service_unavailable' : 'unprocessable_input', said);
  } finally {
    lease.stop();
    await rm(local, { recursive: true, force: true });
  }
}

/** The facts that the driver reports. */
interface Facts {
  readonly application?: string;
  readonly master?: string;
  /** units that are done */
  readonly done?: number;
  readonly failure?: string;
}

/** Secrets stand in a private file: arguments are for all to read. */
async function settingsAsArguments(
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

/** For what only this machine sees: secrets, and the driver's own files. Those of tools that were killed are removed. */
async function makeLocalFolder(): Promise<string> {
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

/** Environment that spark-submit is told its place and its settings by; nothing of the service's own. */
async function sparkEnvironment(
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
    // beside the driver lies a module, and nothing is written there
    PYTHONDONTWRITEBYTECODE: '1',
    // the driver's own files go with the rest, however it ends
    SPARK_SUBMIT_OPTS: `${process.env['SPARK_SUBMIT_OPTS'] ?? ''} -Djava.io.tmpdir=${folder}`.trim(),
    ...(beside ? { XML2ER_PARENT: String(process.pid) } : {}),
  };
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Shows the driver every two seconds that this tool lives. */
function keepLease(work: string): { stop(): void } {
  const path = join(work, 'lease');
  let count = 0;
  const renew = (): void => {
    count += 1;
    // a folder that is gone has told the driver already
    writeFile(path, String(count), { mode: 0o600 }).catch(() => undefined);
  };
  renew();
  const timer = setInterval(renew, leaseMs);
  return { stop: () => clearInterval(timer) };
}

/** While the application runs, a signal to end ends it first: without its folder the driver stops wherever it is. */
/** A person's run clears its folders on its way out. */
function endWhenInterrupted(interrupted: AbortSignal, child: ChildProcess): () => void {
  const end = (): void => void child.kill('SIGTERM');
  interrupted.addEventListener('abort', end, { once: true });
  return () => interrupted.removeEventListener('abort', end);
}

function endWithSignals(
  child: ChildProcess,
  ended: Promise<ProcessEnd>,
  folders: readonly string[],
): () => void {
  const remove = async (): Promise<void> => {
    // the load has ended: a folder that cannot be removed changes nothing of it
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
