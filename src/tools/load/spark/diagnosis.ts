/** Explains why Spark does not run, and says what to do next. */
import { connect } from 'node:net';
import { AppError } from '../../../errors.ts';

const connectMs = 3000;

/**
 * AppError `service_unavailable`: none of a standalone cluster's masters accepts connections. Spark itself would try for a minute.
 * Other masters are not checked: their clients know their addresses.
 */
export async function requireMaster(master: string): Promise<void> {
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
    () =>
      'executors were lost at the same unit again and again: see to their machines, and to svc.spark.memory',
  ],
];

/** Matches a unit's process that was killed from outside: memory ran out, or a machine went down. */
const killedUnit = /the engine ended with -(?:9|15)\b/;

const noExecutor = /Initial job has not accepted any resources/;

export interface Diagnosis {
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
      return 'Spark has no executor for this job yet: others may use its workers, or none is as large as the job asks for (svc.spark.memory, svc.spark.cores, --spark-conf)';
    },
    get reason() {
      return reason;
    },
    get passes() {
      return passes;
    },
  };
}
