/** A cluster whose jobs are held up and killed: their documents, what these are in a target elsewhere, and what is seen of a job under way. */
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import type { ServiceClient } from '../support/service/client.ts';
import type { ServiceHome } from '../support/service/start.ts';
import { convert } from '../support/service/tools.ts';
import { useTrial } from '../support/service/trial.ts';
import { startSparkCluster, type SparkCluster } from './cluster.ts';
import { expectFaultRows, faultRow, writeFaultDocument } from './fault-document.ts';
import { writeEngineProxy } from './engine-proxy.ts';
import { loadedTables, targetArguments, type LoadedTables, type TargetKind } from './loaded-tables.ts';
import { passUnderWay, sparkSettings, submit } from './settings.ts';

export class FaultTrial {
  home!: ServiceHome;
  cluster!: SparkCluster;
  /** folder of what is on its way */
  work!: string;
  input!: string;
  readonly #expected = new Map<TargetKind, LoadedTables>();
  #starting: Promise<SparkCluster> | null = null;
  #origin!: string;

  /** What `kind` holds after a job of the local engine. */
  expected(kind: TargetKind): LoadedTables {
    return this.#expected.get(kind)!;
  }

  async begin(home: ServiceHome, work: string, kinds: readonly TargetKind[]): Promise<void> {
    this.home = home;
    this.work = work;
    await this.configure();
    this.#starting = startSparkCluster(submit!, 2);
    // its fault is met when it is needed
    this.#starting.catch(() => undefined);
    const folder = join(home.directory, 'documents');
    await mkdir(folder);
    await mkdir(join(home.directory, 'out'));
    this.input = join(folder, 'orders.xml');
    await writeFaultDocument(this.input);
    const argv = [this.input, '--row-tag', faultRow, '--keys', 'hash'];
    for (const [index, kind] of kinds.entries()) {
      const model = index === 0 ? [] : ['-x', this.#origin];
      const local = await convert(
        home,
        'xml2er',
        ...argv,
        ...model,
        ...targetArguments(home, kind, `here_${kind}`),
      );
      if (index === 0) this.#origin = String(local.origin);
      const found = await loadedTables(home, kind, `here_${kind}`);
      expectFaultRows(found);
      this.#expected.set(kind, found);
    }
    this.cluster = await this.#starting;
  }

  /** Also of a cluster that was only begun to be started. */
  async end(): Promise<void> {
    const cluster = await this.#starting?.catch(() => null);
    await cluster?.stop();
  }

  configure(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { home, cluster } = this;
    return home.configure({
      ...sparkSettings(this.work, { 'svc.spark.range_bytes': '300 KiB' }),
      'svc.spark.memory': '512m',
      'svc.files.roots': ['documents', 'out'].map((name) => join(home.directory, name)).join(','),
      ...(cluster === undefined ? {} : { 'svc.spark.master': cluster.master }),
      'svc.spark.conf': 'spark.driver.host=127.0.0.1 spark.ui.enabled=false',
      ...more,
    });
  }

  /**
   * The units of the next loads, but for their first, are done when the file of the path that is answered is there. `script`: is run before,
   * for each unit of a load (`writeEngineProxy`); `more`: settings.
   */
  async holdUnits(name: string, script = '', more: Readonly<Record<string, string>> = {}): Promise<string> {
    const mark = join(this.home.directory, `mark-${name}`);
    const hold = `if [[ "$2 $unit" == *-load' '* ]]; then
${script}
[ "$unit" = 0 ] || until [ -e '${mark}' ]; do sleep 0.1; done
fi`;
    const node = await writeEngineProxy(join(this.home.directory, `${name}.sh`), hold);
    await this.configure({ 'svc.spark.node': node, ...more });
    return mark;
  }

  options(kind: TargetKind, name: string): [string, string][] {
    const [flag, target, ...format] = targetArguments(this.home, kind, name);
    return [
      ['-x', this.#origin],
      ['--row-tag', faultRow],
      ['--keys', 'hash'],
      [flag!, target!],
      ...(format.length === 0 ? [] : [[format[0]!, format[1]!] as [string, string]]),
      ['--engine', 'spark'],
    ];
  }

  /** Arguments of a job. */
  job(kind: TargetKind, name: string): string[] {
    return [this.input, ...this.options(kind, name).flat(), '--json'];
  }

  /** The work folder of the job that runs, once a unit of its load is done; null when it has ended before. */
  async underWay(ended: Promise<unknown>): Promise<string | null> {
    const over = ended.then(() => true);
    while (!(await Promise.race([over, delay(50)]))) {
      const pass = await passUnderWay(this.work, 'load');
      if (pass !== null) return pass.job;
    }
    return null;
  }
}

/** `kinds`: of targets; the first one is that whose load makes the model. */
export function useFaultTrial(kinds: readonly TargetKind[]): FaultTrial {
  const trial = useTrial();
  const faults = new FaultTrial();
  beforeAll(async () => {
    const work = await trial.folder('spark-faults-');
    await faults.begin(await trial.home(), work, kinds);
  }, 200_000);
  afterAll(async () => {
    await faults.end();
  });
  return faults;
}

/** Processes of this machine whose command lines hold all of the texts. */
export async function processesWith(...texts: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    if (texts.every((text) => line.includes(text))) found.push(Number(name));
  }
  return found;
}

export async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(/^PPid:\s+(\d+)/m.exec(status)![1]);
}

/** The record of a job that has ended; as long as the test may take. */
export async function endOf(client: ServiceClient, idJob: number): Promise<unknown> {
  for (;;) {
    const record = await client.job(idJob);
    if (['C', 'F', 'K', 'E', 'L'].includes(record.status)) return record;
    await delay(200);
  }
}
