/** One application on Spark from the side of the tool: its folder, spark-submit, its log, its orders one after the other, and its end. */
import { connect } from 'node:net';
import { AppError } from '../../../errors.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, rm, writeFile, mkdtemp, readdir, open, type FileHandle } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installation, launcher } from '../../../installation.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import { makePassFolder, type SparkOrder } from './work.ts';
import { tmpdir } from 'node:os';
import { terminalStatuses } from '../../../service/jobs/record.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { sparkVariables } from '../../../config/properties.ts';
import { settingHoldsSecret } from '../../../service/jobs/option-table.ts';

// Explains why Spark does not run, and says what to do next.

const connectMs = 3000;

/**
 * AppError `service_unavailable`: none of a standalone cluster's masters accepts connections. Spark itself would try for a minute.
 * Other masters are not checked: their clients know their addresses.
 */
async function requireMaster(master: string): Promise<void> {
  if (!master.startsWith('spark://')) return;
  const addresses = master.slice('spark://'.length).split(',');
  const answers = await Promise.all(addresses.map(knock));
  if (answers.includes(null)) return;
  const next = 'start it, or set svc.spark.master to where it is';
  throw new AppError(
    'service_unavailable',
    `Spark: ${master} does not answer (${answers.join(', ')}): ${next}`,
  );
}

/** Returns null if the address accepts connections. */
function knock(address: string): Promise<string | null> {
  const [, host = '', port = '7077'] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(address) ?? [];
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: connectMs });
    const settle = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(null));
    socket.once('timeout', () => settle('ETIMEDOUT'));
    socket.once('error', (error) => settle((error as NodeJS.ErrnoException).code ?? error.message));
  });
}

type Cause = readonly [pattern: RegExp, reason: (found: RegExpExecArray, master: string) => string];

/** Lines that Spark, Java or Python write before they give up; the first match is the cause of the others. */
const causes: readonly Cause[] = [
  [
    /JAVA_HOME is not set|\bjava: (?:command )?not found|Unable to locate a Java Runtime|\/bin\/java: (?:No such file|not found)/,
    () => 'there is no Java on this machine: install a Java 17 runtime, or set JAVA_HOME',
  ],
  [
    /Could not find valid SPARK_HOME/,
    () => 'spark-submit does not find the Spark that it belongs to: set SPARK_HOME for the service',
  ],
  [
    /UnsupportedClassVersionError|Unsupported class file major version/,
    () => 'the Java of this machine is too old: Spark 4 needs Java 17; set JAVA_HOME to one',
  ],
  [
    /Cannot run program "([^"]*python[^"]*)"/,
    ([, python]) =>
      `executors have no ${python}: install Python 3 there, and set spark.pyspark.python in svc.spark.conf to its path`,
  ],
  [
    /PYTHON_VERSION_MISMATCH|Python in worker has different version/,
    () =>
      'executors have another version of Python than the driver: set spark.pyspark.python and spark.pyspark.driver.python in svc.spark.conf to the same one',
  ],
  [
    /(?:HADOOP_CONF_DIR or YARN_CONF_DIR) must be set/,
    () =>
      'for yarn the environment of the service needs HADOOP_CONF_DIR, the folder of the cluster’s settings',
  ],
  [
    /No module named ['‘]?pyspark/,
    () => 'the driver’s Python has no pyspark: set spark.pyspark.driver.python to the one that has',
  ],
  [
    /unrecognized option.*load-spark-defaults|Unrecognized option: --load-spark-defaults/i,
    () => 'svc.spark.submit is older than Spark 4, which is needed',
  ],
];

/** The same for causes that may pass: a cluster that is being restarted, machines that are lost. */
const outages: readonly Cause[] = [
  [
    /All masters are unresponsive/,
    (_, master) => `${master} does not answer: start it, or set svc.spark.master to where it is`,
  ],
  [
    /Master removed our application: (\w+)/,
    ([, how]) =>
      `the cluster ended the application (${how}): its masters and workers have the reason in their logs`,
  ],
  [
    /Job aborted due to stage failure: .*ExecutorLostFailure/,
    () => 'executors were lost at the same unit again and again: check their machines and svc.spark.memory',
  ],
];

/** Matches a unit's process that was killed from outside: memory ran out, or a machine went down. */
const killedUnit = /the engine ended with -(?:9|15)\b/;

const noExecutor = /Initial job has not accepted any resources/;

interface Diagnosis {
  /** Reads a line of the driver's log; returns the message to report about it, or null. */
  read(line: string): string | null;
  /** The failure of a unit counts before the reasons that the log shows. */
  readUnit(failure: string): void;
  /** why it failed, as far as is known */
  readonly reason: string | null;
  /** another attempt may go better */
  readonly passes: boolean;
}

export function createDiagnosis(master: string): Diagnosis {
  let reason: string | null = null;
  let passes = false;
  let wasReported = false;
  return {
    readUnit(failure) {
      reason = failure;
      passes = killedUnit.test(failure);
    },
    read(line) {
      if (reason === null) {
        for (const cause of [...causes, ...outages]) {
          const [pattern, say] = cause;
          const found = pattern.exec(line);
          if (found !== null) {
            reason = say(found, master);
            passes = outages.includes(cause);
            break;
          }
        }
      }
      if (wasReported || !noExecutor.test(line)) return null;
      wasReported = true;
      return 'Spark has no executor for this job yet: other applications may use its workers, or no worker is as large as the job requires (svc.spark.memory, svc.spark.cores, --spark-conf)';
    },
    get reason() {
      return reason;
    },
    get passes() {
      return passes;
    },
  };
}

// The application and its orders.

const scripts = new URL('scripts/spark/', installation);
const driver = fileURLToPath(new URL('driver.py', scripts));
/** the module of it that executors get */
const engine = fileURLToPath(new URL('xml2er_engine.py', scripts));

/** The driver considers the tool gone after a minute without a renewal. */
const leaseMs = 2000;

/** Joins both streams in one pipe to keep the order of writing. The arguments are the program's; no shell interprets them. */
const bothStreams = ['-c', 'exec "$0" "$@" 2>&1'];

/** Programs `spark-…` of src/programs/tools.ts. */
type TaskModule = 'load' | 'statistics' | 'survey';

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

  /** Overwrites the same file each time: a network file system shows a changed file to all machines at once, but a new one late. */
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
      const what = `${program} is not an executable file: install Apache Spark 4 (pip install pyspark), and name its spark-submit`;
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

// Facts that the driver sends to the tool in lines of its log: `@spark `, a mark, and a JSON object (scripts/spark/driver.py).

/** Absent: nothing new of that. */
interface Facts {
  readonly application?: string;
  readonly master?: string;
  /** units of the present order that are done */
  readonly done?: number;
  /** number of an order that is done; may be reported several times */
  readonly order?: number;
  /** why a unit failed */
  readonly failure?: string;
}

const told = (mark: string): RegExp =>
  new RegExp(`@spark ${mark} (\\{(?:[^{}"]|"(?:[^"\\\\]|\\\\.)*")*\\})`, 'g');

/**
 * Returns a function that reads the facts of a line, and returns the rest of it. Python and Java write into one pipe independently: a
 * line of either may be inside a line of the other, before its end. Half a fact is ignored. `mark`: letters and digits that the driver
 * was given, and that no document knows.
 */
export function createFactReader(mark: string): (line: string) => {
  readonly facts: readonly Facts[];
  readonly rest: string;
} {
  const pattern = told(mark);
  return (line) => {
    if (!line.includes(mark)) return { facts: [], rest: line };
    const facts: Facts[] = [];
    const rest = line.replaceAll(pattern, (_, text: string) => {
      facts.push(JSON.parse(text) as Facts);
      return '';
    });
    return { facts, rest };
  };
}

// The work folder of a job on Spark, made and removed; src/tools/load/spark/work.ts describes its content.

/** Gives `use` a new work folder, and removes it afterwards. AppError `invalid_option`: svc.spark.work is no folder. */
async function withWorkFolder<T>(session: ToolSession, use: (work: string) => Promise<T>): Promise<T> {
  const parent = session.home.config.spark.work ?? tmpdir();
  const { catalog } = session.home.adapters;
  const prefix = `xml2er-${(await catalog.installation()).replaceAll(/[^\w-]/g, '')}-`;
  await removeLeftOver(session, parent, prefix);
  const work = await mkdtemp(join(parent, `${prefix}${session.idJob}-`));
  try {
    return await use(work);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Removes what a machine that died left behind: folders of earlier attempts at this job, and of jobs that have ended. */
async function removeLeftOver({ idJob, home }: ToolSession, parent: string, prefix: string): Promise<void> {
  const names = await readdir(parent).catch((error: unknown) => {
    throw new AppError('invalid_option', `svc.spark.work: ${(error as Error).message}`);
  });
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const job = Number(/^(\d+)-/.exec(name.slice(prefix.length))?.[1]);
    if (!Number.isSafeInteger(job)) continue;
    const over = job === idJob || (await hasEnded(home.adapters.jobs, job));
    if (over) await rm(join(parent, name), { recursive: true, force: true });
  }
}

async function hasEnded(jobs: ToolSession['home']['adapters']['jobs'], idJob: number): Promise<boolean> {
  try {
    const { record } = await jobs.findStoredJob(idJob);
    return terminalStatuses.has(record.status);
  } catch (error) {
    // records of old jobs are removed
    if (error instanceof AppError && error.code === 'not_found') return true;
    throw error;
  }
}

// A text file that another process writes, line by line as it grows.

const everyMs = 300;
const pieceBytes = 64 * 1024;

/** Passes each line to `take`; `end` reads the lines that exist then, and stops. The file may appear later, or never. */
export function followFile(path: string, take: (line: string) => void): { end(): Promise<void> } {
  const over = new AbortController();
  const decoder = new TextDecoder();
  let rest = '';
  let offset = 0;
  const read = async (file: FileHandle): Promise<void> => {
    const piece = new Uint8Array(pieceBytes);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, pieceBytes, offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      const lines = (rest + decoder.decode(piece.subarray(0, bytesRead), { stream: true })).split('\n');
      rest = lines.pop()!;
      lines.forEach(take);
    }
  };
  const readNow = async (): Promise<void> => {
    // opened again each time: on a network file system, this makes others' writes visible
    const file = await open(path, 'r').catch(() => null);
    if (file === null) return;
    await read(file).finally(() => file.close());
  };
  const following = (async () => {
    while (!over.signal.aborted) {
      await readNow();
      // aborted when the file is whole, which the loop sees
      await delay(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
    await readNow();
    if (rest !== '') take(rest);
  })();
  return {
    end: () => {
      over.abort();
      return following;
    },
  };
}

// Starts spark-submit: its settings, its environment, a folder on this machine alone, and its end with the tool.

/** A worker waits three seconds after SIGTERM. */
const endMs = 2500;

/** Writes secrets to a private file, because every user can read arguments. */
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

/**
 * Creates a folder for data that only this machine needs: secrets, and the driver's own files. Folders of tools that were killed are
 * removed.
 */
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

/** Returns the environment that gives spark-submit its place and its settings; it contains nothing else of the service's own. */
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
    // the driver's folder contains a module, and nothing is written there
    PYTHONDONTWRITEBYTECODE: '1',
    // the driver's own files go with the rest, however it ends
    SPARK_SUBMIT_OPTS: `${process.env['SPARK_SUBMIT_OPTS'] ?? ''} -Djava.io.tmpdir=${folder}`.trim(),
    ...(beside ? { XML2ER_PARENT: String(process.pid) } : {}),
  };
}

interface SubmissionEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

function endOf(child: ChildProcess): Promise<SubmissionEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/** A person's run clears its folders on its way out. */
function endWhenInterrupted(interrupted: AbortSignal, child: ChildProcess): () => void {
  const end = (): void => void child.kill('SIGTERM');
  interrupted.addEventListener('abort', end, { once: true });
  return () => interrupted.removeEventListener('abort', end);
}

/** While the application is there, a signal to end ends it first: without its folder the driver stops wherever it is. */
function endWithSignals(
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
