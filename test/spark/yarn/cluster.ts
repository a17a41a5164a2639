/** A cluster of YARN on loopback: its own resource manager and node managers, of the jars that `hadoop minicluster` names. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../support/service/external-postgres.ts';
import { endProcess, processesIn } from '../processes.ts';
import { eventually } from '../../support/service/waiting.ts';

export interface YarnCluster {
  /** of the service that uses it */
  readonly environment: Readonly<Record<string, string>>;
  /** `svc.spark.conf` that Spark needs here, but for the mode of deployment */
  readonly conf: readonly string[];
  /** Processes of the executors in its containers. */
  executors(): Promise<number[]>;
  stop(): Promise<void>;
}

/** Hadoop reads it as the property of a process. */
const ownFolder = ['$', '{own.folder}'].join('');

/** `jars`: folder of the minicluster; Hadoop itself is that of Spark's package. */
export async function startYarnCluster(submit: string, jars: string, nodes: number): Promise<YarnCluster> {
  const python = join(dirname(submit), 'python3');
  const home = execFileSync(python, ['-c', 'import pyspark; print(pyspark.__path__[0])'], {
    encoding: 'utf8',
  }).trim();
  const folder = await mkdtemp(join(tmpdir(), 'yarn-cluster-'));
  const web = await freePort();
  const conf = join(folder, 'conf');
  await mkdir(conf);
  await writeFile(join(conf, 'yarn-site.xml'), properties(await yarnSettings(web)));
  await writeFile(join(conf, 'core-site.xml'), properties({ 'hadoop.tmp.dir': `${ownFolder}/tmp` }));
  const children: ChildProcess[] = [];
  let log = '';
  const start = (name: string, kind: string): void => {
    const own = join(folder, name);
    const options = ['-Xmx256m', `-Down.folder=${own}`, `-Dhadoop.log.dir=${own}`];
    const child = spawn(
      'java',
      [
        ...options,
        '-cp',
        [conf, join(jars, '*'), join(home, 'jars/*')].join(':'),
        `org.apache.hadoop.yarn.server.${kind}`,
      ],
      { env: { ...process.env, HADOOP_CONF_DIR: conf }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    children.push(child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  };
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(endProcess));
    // containers end with their node manager's pipes, and may still write
    for (const pid of await processesIn(folder, '')) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    start('manager', 'resourcemanager.ResourceManager');
    for (let node = 0; node < nodes; node += 1) start(`node-${node}`, 'nodemanager.NodeManager');
    await eventually('the nodes have joined', async () => {
      if (children.some(({ exitCode }) => exitCode !== null)) throw new Error(`YARN ended:\n${log}`);
      const answer = await fetch(`http://127.0.0.1:${web}/ws/v1/cluster/metrics`).catch(() => null);
      if (answer?.ok !== true) return null;
      const { clusterMetrics } = (await answer.json()) as { clusterMetrics: { activeNodes: number } };
      return clusterMetrics.activeNodes === nodes ? true : null;
    });
    return {
      environment: { HADOOP_CONF_DIR: conf },
      conf: [
        `spark.yarn.jars=local:${home}/jars/*`,
        `spark.yarn.stagingDir=file://${folder}`,
        `spark.pyspark.python=${python}`,
        `spark.pyspark.driver.python=${python}`,
        'spark.yarn.am.memory=512m',
        'spark.driver.memory=512m',
        'spark.executor.instances=2',
        'spark.executor.memoryOverhead=384m',
        'spark.ui.enabled=false',
      ],
      executors: () => processesIn(folder, 'CoarseGrainedExecutorBackend'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const manager = (name: string): string => `yarn.resourcemanager.${name}`;
const node = (name: string): string => `yarn.nodemanager.${name}`;
const address = async (): Promise<string> => `127.0.0.1:${await freePort()}`;

async function yarnSettings(web: number): Promise<Record<string, string | number>> {
  return {
    [manager('address')]: await address(),
    [manager('scheduler.address')]: await address(),
    [manager('resource-tracker.address')]: await address(),
    [manager('admin.address')]: await address(),
    [manager('webapp.address')]: `127.0.0.1:${web}`,
    [manager('scheduler.class')]:
      'org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler',
    'yarn.scheduler.minimum-allocation-mb': 128,
    ...Object.fromEntries(
      ['address', 'localizer.address', 'webapp.address', 'collector-service.address'].map((name) => [
        node(name),
        '127.0.0.1:0',
      ]),
    ),
    [node('resource.memory-mb')]: 2560,
    [node('resource.cpu-vcores')]: 4,
    [node('vmem-check-enabled')]: 'false',
    [node('pmem-check-enabled')]: 'false',
    // a disk that is nearly full is no reason here
    [node('disk-health-checker.enable')]: 'false',
    [node('local-dirs')]: `${ownFolder}/local`,
    [node('log-dirs')]: `${ownFolder}/logs`,
  };
}

function properties(settings: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(settings).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  return `<configuration>\n${lines.join('\n')}\n</configuration>\n`;
}
