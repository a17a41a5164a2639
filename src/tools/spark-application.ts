/** One application on Spark from the side of the tool: a work folder, spark-submit, its log and its end. */
import { spawn } from 'node:child_process';
import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError } from '../errors.ts';
import { makeWorkFolder } from './spark-work.ts';
import type { ToolSession } from './tool-session.ts';

const driver = fileURLToPath(new URL('../../scripts/spark/driver.py', import.meta.url));

/** Gives `use` a new work folder, and removes it afterwards. */
export async function withWorkFolder<T>(session: ToolSession, use: (work: string) => Promise<T>): Promise<T> {
  const parent = session.home.config.spark.work ?? tmpdir();
  const installation = (await session.home.adapters.catalog.installation()).replaceAll(/[^\w-]/g, '');
  const prefix = `xml2er-${installation}-${session.idJob}-`;
  // what an attempt before, whose machine died, could not remove
  for (const name of await readdir(parent))
    if (name.startsWith(prefix)) await rm(join(parent, name), { recursive: true, force: true });
  const work = await mkdtemp(join(parent, prefix));
  try {
    await makeWorkFolder(work);
    return await use(work);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Environment that spark-submit is told its place and its settings by; nothing of the service's own. */
async function sparkEnvironment(program: string): Promise<NodeJS.ProcessEnv> {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|LANG|TZ|USER|TMPDIR|JAVA_HOME|SPARK_\w+|PYSPARK_\w+|HADOOP_\w+|YARN_\w+|SVC_JOB_MARK)$/.test(
      name,
    ),
  );
  // the Python that a virtual environment's spark-submit belongs to
  const python = join(dirname(program), 'python3');
  const found = await access(python).then(
    () => true,
    () => false,
  );
  const pythons = found ? { PYSPARK_PYTHON: python } : {};
  return { ...pythons, ...Object.fromEntries(kept), XML2ER_PARENT: String(process.pid) };
}

/**
 * Runs the units of the work folder to their end: `job.json` there says with what. The driver lives in this process's group and
 * watches this process: neither outlives the other's kill. `progress`: 0 … 1.
 */
export async function runUnitsOnSpark(
  session: ToolSession,
  work: string,
  units: number,
  progress: (fraction: number) => void,
): Promise<void> {
  const program = session.home.config.spark.submit!;
  const settings = { ...session.home.config.spark.conf, ...session.request.sparkConf };
  const conf = Object.entries(settings).flatMap(([key, value]) => ['--conf', `${key}=${value}`]);
  const child = spawn(program, [...conf, driver, work], {
    env: await sparkEnvironment(program),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const told: Promise<void>[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => session.log(line));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('@spark ')) return session.log(line);
    const facts = JSON.parse(line.slice(7)) as { application?: string; master?: string; done?: number };
    if (facts.application !== undefined) {
      session.log(`Spark application ${facts.application} on ${facts.master}`);
      told.push(session.report({ idApp: facts.application }).catch(() => undefined));
    }
    if (facts.done !== undefined) progress(facts.done / units);
  });
  const code = await ended.catch((error: unknown) => {
    throw new AppError('invalid_option', `svc.spark.submit: ${(error as Error).message}`);
  });
  await Promise.all(told);
  if (code !== 0)
    throw new AppError(
      'unprocessable_input',
      `spark-submit ended with ${code}: the job's log has its reasons`,
    );
}
