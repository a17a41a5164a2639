/** A standalone Spark cluster on loopback, from the package that spark-submit came with. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { endProcess, processesIn } from './processes.ts';

export interface SparkCluster {
  /** spark://… */
  readonly master: string;
  /** Processes of the executors that the workers have started. */
  executors(): Promise<number[]>;
  /** what the master and the workers have written so far */
  log(): string;
  /** kill -9 to the first worker */
  killWorker(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSparkCluster(submit: string, workers: number): Promise<SparkCluster> {
  const python = join(dirname(submit), 'python3');
  const home = execFileSync(python, ['-c', 'import pyspark; print(pyspark.__path__[0])'], {
    encoding: 'utf8',
  }).trim();
  const folder = await mkdtemp(join(tmpdir(), 'spark-cluster-'));
  const children: ChildProcess[] = [];
  let log = '';
  const start = (
    kind: 'master.Master' | 'worker.Worker',
    host: string,
    argv: string[],
    until: RegExp,
  ): Promise<string> => {
    const child = spawn(
      join(home, 'bin/spark-class'),
      [`org.apache.spark.deploy.${kind}`, '--host', host, '--port', '0', '--webui-port', '0', ...argv],
      { env: { ...process.env, SPARK_HOME: home, SPARK_LOCAL_IP: host, PYSPARK_PYTHON: python } },
    );
    children.push(child);
    let output = '';
    return new Promise((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        output += chunk.toString();
        log += chunk.toString();
        const found = until.exec(output);
        if (found !== null) resolve(found[0]);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => reject(new Error(`${kind} ended:\n${output}`)));
    });
  };
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(endProcess));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const master = await start('master.Master', '127.0.0.1', [], /spark:\/\/127\.0\.0\.1:\d+/);
    // a twin of a task goes to another host
    await Promise.all(
      Array.from({ length: workers }, (_, worker) =>
        start(
          'worker.Worker',
          `127.0.0.${worker + 1}`,
          ['--cores', '1', '--memory', '600m', '--work-dir', join(folder, String(worker)), master],
          /Successfully registered with master/,
        ),
      ),
    );
    const executors = () => processesIn(folder, 'CoarseGrainedExecutorBackend');
    return { master, executors, log: () => log, killWorker: () => endProcess(children[1]!), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
