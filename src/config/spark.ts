/** The settings `svc.spark.*`. */
import type { SparkConfig } from './shape.ts';
import { parseCount, parseQuantity, parseSparkConf, sizeUnits } from './values.ts';

/** Environment variables with the places of Spark, Java, Python and the cluster's settings. */
export const sparkVariables =
  /^(?:JAVA_HOME|KUBECONFIG|(?:SPARK|PYSPARK|HADOOP|YARN|KUBERNETES)_[A-Z0-9_]+)$/;

export const sparkProperties = [
  {
    name: 'svc.spark.submit',
    initial: '',
    meaning: 'path of spark-submit; empty: jobs on Spark are refused',
  },
  {
    name: 'svc.spark.master',
    initial: 'local[*]',
    meaning: 'where they run: local[*], spark://host:7077, yarn or k8s://https://host:6443',
  },
  { name: 'svc.spark.memory', initial: '1g', meaning: 'memory of an executor, beside that of its tasks' },
  { name: 'svc.spark.cores', initial: '', meaning: 'cores of an executor; empty: as the master has it' },
  {
    name: 'svc.spark.conf',
    initial: '',
    meaning: 'more settings of Spark, separated by blanks, as spark.cores.max=64',
  },
  {
    name: 'svc.spark.work',
    initial: '',
    meaning: 'folder for what is on its way, seen by all executors; empty: the temporary folder',
  },
  {
    name: 'svc.spark.range_bytes',
    initial: '256 MiB',
    meaning: 'larger files are cut (docs/spark.md), a task for each part; small ones share tasks',
  },
  {
    name: 'svc.spark.node',
    initial: '',
    meaning: 'Node on the executors: a path, there or in an archive of spark.archives; empty: as here',
  },
  {
    name: 'svc.spark.package',
    initial: '',
    meaning: 'folder of this package on the executors, likewise; empty: as here',
  },
] as const;

type SparkProperty = (typeof sparkProperties)[number]['name'];

export function readSpark(read: <T>(name: SparkProperty, parse: (text: string) => T) => T): SparkConfig {
  const text = (name: SparkProperty): string | null => read(name, (value) => (value === '' ? null : value));
  const cores = read('svc.spark.cores', (value) => (value === '' ? null : parseCount(value, 1)));
  return {
    submit: text('svc.spark.submit'),
    conf: {
      'spark.master': read('svc.spark.master', parseMaster),
      'spark.executor.memory': read('svc.spark.memory', parseMemory),
      ...(cores === null ? {} : { 'spark.executor.cores': String(cores) }),
      ...read('svc.spark.conf', parseSparkConf),
    },
    work: text('svc.spark.work'),
    rangeBytes: read('svc.spark.range_bytes', (value) =>
      parseQuantity(value, sizeUnits, 'a size such as 64 MiB'),
    ),
    node: text('svc.spark.node'),
    package: text('svc.spark.package'),
  };
}

function parseMaster(text: string): string {
  if (
    !/^(?:local(?:\[(?:\*|\d+)(?:,\d+)?\])?|local-cluster\[[\d, ]+\]|spark:\/\/\S+|k8s:\/\/\S+|yarn)$/.test(
      text,
    )
  )
    throw new Error('must be local[N], spark://HOST:PORT, yarn or k8s://ADDRESS');
  return text;
}

function parseMemory(text: string): string {
  if (!/^\d+[kmgt]$/i.test(text)) throw new Error('must be a size as Spark writes it, such as 2g');
  return text;
}
