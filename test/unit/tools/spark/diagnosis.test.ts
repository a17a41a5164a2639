/** What is said of a Spark that does not run, and whether another attempt may go better. Lines as Spark 4 writes them. */
import { describe, expect, it } from 'vitest';
import { createDiagnosis } from '../../../../src/tools/load/spark/orders.ts';

const master = 'spark://10.0.0.1:7077';

describe('the log of a driver', () => {
  it.each([
    [
      '26/11/21 07:00:00 ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive! Giving up.',
      'spark://10.0.0.1:7077 does not answer',
      true,
    ],
    [
      '26/11/21 07:00:00 ERROR TaskSchedulerImpl: Exiting due to error from cluster scheduler: Master removed our application: KILLED',
      'the cluster ended the application (KILLED)',
      true,
    ],
    [
      'org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 in stage 0.0 (TID 9) (127.0.0.1 executor 4): ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Command exited with code 137',
      'executors were lost',
      true,
    ],
    ['JAVA_HOME is not set', 'install a Java 17 runtime', false],
    ['ModuleNotFoundError: No module named pyspark', 'the driver’s Python has no pyspark', false],
  ])('%s', (line, reason, passes) => {
    const diagnosis = createDiagnosis(master);
    diagnosis.read(line);
    diagnosis.read('26/11/21 07:00:01 ERROR All masters are unresponsive! Giving up.');
    expect(diagnosis.reason).toContain(reason);
    expect(diagnosis.passes).toBe(passes);
  });

  it('is of less weight than what a unit failed of', () => {
    const diagnosis = createDiagnosis(master);
    diagnosis.read('JAVA_HOME is not set');
    diagnosis.readUnit('worker-1: unit 3: the engine ended with 1: Error: EACCES');
    expect(diagnosis.reason).toContain('unit 3');
    expect(diagnosis.passes).toBe(false);
    diagnosis.readUnit('worker-1: unit 3: the engine ended with -9:');
    expect(diagnosis.passes).toBe(true);
  });
});
