/** One application on Spark from the side of the tool: its folder, spark-submit, its log, its orders one after the other, and its end. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installation, launcher } from '../../../../installation.ts';
import { AppError } from '../../../../errors.ts';
import type { ToolSession } from '../../../session/tool-session.ts';
import { makePassFolder, type SparkOrder } from '../work.ts';
import { createDiagnosis, requireMaster, type Diagnosis } from './diagnosis.ts';
import { createFactReader, type Facts } from './facts.ts';
import { followFile } from './follow-file.ts';
import {
  endOf,
  endWhenInterrupted,
  endWithSignals,
  makeLocalFolder,
  settingsAsArguments,
  sparkEnvironment,
  type SubmissionEnd,
} from './submission.ts';
import { withWorkFolder } from './work-folder.ts';

const scripts = new URL('scripts/spark/', installation);
const driver = fileURLToPath(new URL('driver.py', scripts));
/** the module of it that executors get */
const engine = fileURLToPath(new URL('xml2er_engine.py', scripts));

/** The driver considers the tool gone after a minute without a renewal. */
const leaseMs = 2000;

/** Joins both streams in one pipe to keep the order of writing. The arguments are the program's; no shell interprets them. */
const bothStreams = ['-c', 'exec "$0" "$@" 2>&1'];

/** Programs `spark-…` of src/programs/tools.ts. */
export type TaskModule = 'load' | 'statistics' | 'survey';

/** Units that executors are to do. */
export interface Units {
  /** a folder of `SparkApplication.folderFor`; its `job.json` holds the settings */
  readonly folder: string;
  readonly module: TaskModule;
  readonly count: number;
  /** numbers of the units to run; absent: all of them, from 0 */
  readonly numbers?: readonly number[];
}

export interface SparkApplication {
  /** A new folder for units of a pass over the documents. */
  folderFor(pass: string): Promise<string>;
  /**
   * Runs units to their end. `progress`: 0 … 1. AppError with the cause and advice; `service_unavailable` if another attempt may
   * succeed.
   */
  run(units: Units, progress: (fraction: number) => void): Promise<void>;
  /** Nothing more is to be run: executors go. */
  end(): Promise<void>;
}

/** Returns the command that executors start for units: Node and the launcher, at the paths that the operator configured for executors. */
function taskCommand({ home }: ToolSession, module: TaskModule): string[] {
  const { node, package: folder } = home.config.spark;
  return [
    node ?? process.execPath,
    folder === null ? launcher : `${folder}/bin/launch.mjs`,
    `tools/spark-${module}`,
  ];
}

/**
 * Gives `use` an application of that name, which starts when there is something to run. It ends with `use`, and with this process, however
 * that ends.
 */
export function withSpark<T>(
  session: ToolSession,
  name: string,
  use: (spark: SparkApplication) => Promise<T>,
): Promise<T> {
  return withWorkFolder(session, async (work) => {
    const spark = new Application(session, work, name);
    try {
      return await use(spark);
    } finally {
      // an error of the application was reported to the caller that waited for its units
      await spark.end().catch(() => undefined);
    }
  });
}

class Application implements SparkApplication {
  readonly #session: ToolSession;
  readonly #work: string;
  readonly #name: string;
  readonly #mark = randomBytes(8).toString('hex');
  #passes = 0;
  #orders = 0;
  /** spark-submit under way */
  #submitted: { readonly ended: Promise<void> } | null = null;
  /** number of units in the current order */
  #units = 1;
  #progress: (fraction: number) => void = () => undefined;
  #done = Promise.withResolvers<void>();

  constructor(session: ToolSession, work: string, name: string) {
    this.#session = session;
    this.#work = work;
    this.#name = name;
  }

  folderFor(pass: string): Promise<string> {
    this.#passes += 1;
    return makePassFolder(join(this.#work, `${this.#passes}-${pass}`));
  }

  async run({ folder, module, count, numbers }: Units, progress: (fraction: number) => void): Promise<void> {
    this.#units = numbers?.length ?? count;
    this.#progress = progress;
    this.#done = Promise.withResolvers();
    const command = taskCommand(this.#session, module);
    await this.#write({ folder, command, units: count, ...(numbers === undefined ? {} : { numbers }) });
    this.#submitted ??= await this.#submit();
    const tooEarly = this.#submitted.ended.then(() => {
      throw new AppError('service_unavailable', 'Spark: the application ended before its work was done');
    });
    await Promise.race([this.#done.promise, tooEarly]);
  }

  async end(): Promise<void> {
    const submitted = this.#submitted;
    this.#submitted = null;
    if (submitted === null) return;
    await this.#write({ end: true });
    await submitted.ended;
  }

  /** Over the one before: a file that is there already is looked at by all machines at once. */
  async #write(order: SparkOrder): Promise<void> {
    const text = JSON.stringify({ number: this.#orders, name: this.#name, mark: this.#mark, ...order });
    await writeFile(join(this.#work, 'order.json'), text, { mode: 0o600 });
    this.#orders += 1;
  }

  /** AppError with the reason why it cannot be started. */
  async #submit(): Promise<{ readonly ended: Promise<void> }> {
    const { spark } = this.#session.home.config;
    const program = spark.submit!;
    const settings = { ...spark.conf, ...this.#session.request.sparkConf };
    await access(program, constants.X_OK).catch(() => {
      const what = `${program} is no program: install Apache Spark 4 (pip install pyspark), and name its spark-submit`;
      throw new AppError('invalid_option', `svc.spark.submit: ${what}`);
    });
    await requireMaster(settings['spark.master']!);
    const ended = this.#live(program, settings);
    // the caller that waits for units receives the error
    ended.catch(() => undefined);
    return { ended };
  }

  async #live(program: string, settings: Readonly<Record<string, string>>): Promise<void> {
    const session = this.#session;
    const work = this.#work;
    // in cluster mode the driver runs elsewhere, and writes its facts to a file
    const beside = settings['spark.submit.deployMode'] !== 'cluster';
    const local = await makeLocalFolder();
    const diagnosis = createDiagnosis(settings['spark.master']!);
    const lease = keepLease(work);
    const reports: Promise<void>[] = [];
    const readFacts = createFactReader(this.#mark);
    const take = (line: string): void => {
      const { facts, rest } = readFacts(line);
      for (const one of facts) {
        if (one.failure !== undefined) diagnosis.readUnit(one.failure);
        this.#take(one, reports);
      }
      if (rest === '' && facts.length > 0) return;
      session.log(rest);
      const hint = diagnosis.read(rest);
      if (hint !== null) session.log(hint);
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
      await Promise.all(reports);
      requireSuccess(await ended, diagnosis);
    } finally {
      lease.stop();
      await rm(local, { recursive: true, force: true });
    }
  }

  #take({ application, master, done, order }: Facts, reports: Promise<void>[]): void {
    if (application !== undefined) {
      this.#session.log(`Spark application ${application} on ${master}`);
      // the name of the application is a help for people: the load goes on without it
      reports.push(this.#session.report({ idApp: application }).catch(() => undefined));
    }
    if (done !== undefined) this.#progress(done / this.#units);
    if (order === this.#orders - 1) this.#done.resolve();
  }
}

/** AppError: why spark-submit ended as it did. */
function requireSuccess({ code, signal }: SubmissionEnd, { reason, passes }: Diagnosis): void {
  if (code === 0) return;
  if (reason !== null)
    throw new AppError(passes ? 'service_unavailable' : 'unprocessable_input', `Spark: ${reason}`);
  const how =
    signal === null && code !== null && code < 128
      ? `with ${code}`
      : `by ${signal ?? `signal ${code! - 128}`}`;
  const said = `spark-submit ended ${how}: the job's log has its reasons`;
  throw new AppError(how.startsWith('by') ? 'service_unavailable' : 'unprocessable_input', said);
}

/** Shows the driver every two seconds that this tool lives. */
function keepLease(work: string): { stop(): void } {
  const path = join(work, 'lease');
  let count = 0;
  const renew = (): void => {
    count += 1;
    // if the folder is gone, the driver knows already
    writeFile(path, String(count), { mode: 0o600 }).catch(() => undefined);
  };
  renew();
  const timer = setInterval(renew, leaseMs);
  return { stop: () => clearInterval(timer) };
}
