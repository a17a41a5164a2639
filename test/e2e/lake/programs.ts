/** Programs that read tables of Delta and Iceberg and know nothing of how they were written: one process each, asked again after every step. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { duckDbRows, type TargetReader } from '../../contracts/row-sinks/readers.ts';
import { programOf, type Part } from '../../support/needs.ts';

export type TableFormat = 'delta' | 'iceberg';

/** Asked by a line (`["read", FORMAT, FOLDER, TABLE, OUT]`), it answers one. */
const loop = `
import json, os, sys
for line in sys.stdin:
    action, *argv = json.loads(line)
    globals()[action](*argv)
    print("done", flush=True)
sys.stdout.flush()
os._exit(0)
`;

const deltalake = `
import pyarrow.parquet as pq
from deltalake import DeltaTable
def read(form, folder, table, out):
    pq.write_table(DeltaTable(f"{folder}/{table}").to_pyarrow_table(), f"{out}/rows.parquet")
`;

const pyiceberg = `
import pyarrow.parquet as pq
from pyiceberg.table import StaticTable
def read(form, folder, table, out):
    with open(f"{folder}/{table}/metadata/version-hint.text") as hint:
        newest = StaticTable.from_metadata(f"{folder}/{table}/metadata/v{hint.read().strip()}.metadata.json")
    pq.write_table(newest.scan().to_arrow(), f"{out}/rows.parquet")
`;

const duckdb = `
import duckdb
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
for extension in ("avro", "iceberg", "delta"):
    connection.execute(f"LOAD {extension}")
def read(form, folder, table, out):
    connection.execute(f"COPY (FROM {form}_scan('{folder}/{table}')) TO '{out}/rows.parquet' (FORMAT parquet)")
`;

/** `merge` inserts the row of the highest key once more, under the key that follows. */
const spark = `
import glob, os
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit
settings = {
    "spark.jars": ",".join(glob.glob(os.environ["LAKE_JARS"] + "/*.jar")),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("ERROR")
catalogs = {}
def named(form, folder, table):
    if form == "delta":
        return f"delta.\`{folder}/{table}\`"
    if folder not in catalogs:
        catalogs[folder] = catalog = f"folder{len(catalogs)}"
        session.conf.set(f"spark.sql.catalog.{catalog}", "org.apache.iceberg.spark.SparkCatalog")
        session.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
        session.conf.set(f"spark.sql.catalog.{catalog}.warehouse", folder)
        session.conf.set(f"spark.sql.catalog.{catalog}.cache-enabled", "false")
    return f"{catalogs[folder]}.\`{table}\`"
def read(form, folder, table, out):
    session.table(named(form, folder, table)).coalesce(1).write.mode("append").parquet(out)
def merge(form, folder, table, key):
    target = named(form, folder, table)
    rows = session.table(target).orderBy(col(key).desc()).limit(1)
    highest = session.createDataFrame(rows.collect(), rows.schema)
    highest.withColumn(key, (col(key) + lit(1)).cast(rows.schema[key].dataType)).createOrReplaceTempView("more")
    session.sql(f"MERGE INTO {target} t USING more ON t.\`{key}\` = more.\`{key}\` WHEN NOT MATCHED THEN INSERT *")
`;

interface ProgramSpec {
  readonly part: Part;
  readonly script: string;
  readonly formats: readonly TableFormat[];
}

const programs = {
  deltalake: { part: 'deltalake', script: deltalake, formats: ['delta'] },
  PyIceberg: { part: 'pyiceberg', script: pyiceberg, formats: ['iceberg'] },
  DuckDB: { part: 'duckdb with delta and iceberg', script: duckdb, formats: ['delta', 'iceberg'] },
  Spark: { part: 'spark with delta and iceberg', script: spark, formats: ['delta', 'iceberg'] },
} as const satisfies Readonly<Record<string, ProgramSpec>>;

export type ProgramName = keyof typeof programs;
export const programNames = Object.keys(programs) as readonly ProgramName[];
export const programParts: readonly Part[] = Object.values(programs).map(({ part }) => part);

export class TableProgram {
  readonly name: ProgramName;
  readonly formats: readonly TableFormat[];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;
  #errors = '';

  constructor(name: ProgramName) {
    const { part, script, formats } = programs[name];
    this.name = name;
    this.formats = formats;
    const env = { ...process.env, SPARK_LOCAL_IP: '127.0.0.1' };
    this.#child = spawn(programOf(part)!, ['-c', `${script}${loop}`], { env });
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  async #ask(...request: readonly string[]): Promise<void> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const { done } = await this.#answers.next();
    if (done === true) throw new Error(`${this.name}, ${request.join(' ')}: ${this.#errors.slice(-3000)}`);
  }

  /** Of the folder as it is when a table is read. */
  reader(format: TableFormat, folder: string): TargetReader {
    return {
      read: async (name) => {
        const table = await tableDirectory(folder, name);
        if (table === null) return null;
        const out = await mkdtemp(join(tmpdir(), 'lake-program-'));
        try {
          await this.#ask('read', format, folder, table, out);
          return await duckDbRows(':memory:', `read_parquet('${out}/*.parquet')`);
        } finally {
          await rm(out, { recursive: true, force: true });
        }
      },
    };
  }

  /** Spark's alone: a row as that of the highest key, under the next one. `key`: of the table. */
  async merge(format: TableFormat, folder: string, name: string, key: string): Promise<void> {
    await this.#ask('merge', format, folder, (await tableDirectory(folder, name))!, key);
  }

  async end(): Promise<void> {
    this.#lines.close();
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
  }
}

async function tableDirectory(folder: string, name: string): Promise<string | null> {
  const { tables } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    readonly tables: readonly { readonly name: string; readonly directory: string }[];
  };
  return tables.find((table) => table.name === name)?.directory ?? null;
}
