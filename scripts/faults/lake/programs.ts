/** Tables as programs of others read them and write into them: delta-rs and PyIceberg. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { programOf } from '../../../test/support/needs.ts';

/** `opened(NAME)` is a table; a place is JSON: `{kind, path, catalogue, options}`. */
const opening = `
import json, os, sys, time
place = json.loads(sys.argv[1])
kind, options = place["kind"], place["options"]
if kind == "delta":
    from deltalake import DeltaTable, write_deltalake
    def opened(name):
        return DeltaTable(place["path"] + "/" + name, storage_options=options)
elif kind == "catalogue":
    from pyiceberg.catalog import load_catalog
    catalogue = load_catalog("place", uri=place["catalogue"], **options)
    def opened(name):
        return catalogue.load_table(place["path"] + "." + name)
else:
    from pyiceberg.table import StaticTable
    from pyiceberg.io import load_file_io
    import pyarrow.fs as fs
    def opened(name):
        folder = place["path"] + "/" + name + "/metadata"
        io = load_file_io(options, folder)
        version = int(io.new_input(folder + "/version-hint.text").open().read())
        while io.new_input(f"{folder}/v{version + 1}.metadata.json").exists():
            version += 1
        return StaticTable.from_metadata(f"{folder}/v{version}.metadata.json", options)
def rows_of(table):
    if kind == "delta":
        rows = table.to_pyarrow_table()
        assert sum(table.get_add_actions(flatten=True).column("num_records").to_pylist()) == rows.num_rows
        return rows
    rows = table.scan().to_arrow()
    snapshot = table.current_snapshot()
    assert snapshot is None or int(snapshot.summary["total-records"]) == rows.num_rows
    return rows
`;

/** Each table as one file of Parquet. */
const exporting = `
import pyarrow.parquet as pq
out, names = sys.argv[2], sys.argv[3].split(",")
for name in names:
    try:
        table = opened(name)
    except Exception as error:
        if type(error).__name__ in ("TableNotFoundError", "NoSuchTableError", "FileNotFoundError"):
            continue
        raise
    pq.write_table(rows_of(table), out + "/" + name + ".parquet")
sys.stdout.flush()
os._exit(0)
`;

/** One row after the other, told before and after, until the input ends: with keys below 0, which no job gives. */
const appending = `
import threading
import pyarrow as pa
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
number = 0
while not ended.is_set():
    try:
        table = opened(sys.argv[2])
        if kind == "delta":
            schema = pa.schema(table.schema())
        else:
            schema = table.schema().as_arrow()
        number += 1
        values = {field.name: (-number if field.name.endswith("_key") else None if field.nullable else 1 if pa.types.is_integer(field.type) else "theirs") for field in schema}
        row = pa.Table.from_pylist([values], schema=schema)
        print(f"? {number}", flush=True)
        if kind == "delta":
            write_deltalake(table, row, mode="append")
        else:
            table.append(row)
        print(f"! {number}", flush=True)
    except Exception as error:
        print(f"- {type(error).__name__}: {error}".replace("\\n", " ")[:300], flush=True)
    ended.wait(0.3)
os._exit(0)
`;

export interface ForeignPlace {
  readonly kind: 'delta' | 'iceberg' | 'catalogue';
  /** the address of the folder, or the namespace */
  readonly path: string;
  readonly catalogue?: string;
  /** as the library wants the access to the store */
  readonly options: Readonly<Record<string, string>>;
}

/** `folder`: gets a file of Parquet for each table that is there. An error where a table cannot be read, or tells another number of rows than it has. */
export async function exportTables(
  place: ForeignPlace,
  folder: string,
  tables: readonly string[],
): Promise<void> {
  const argv = ['-c', opening + exporting, JSON.stringify(place), folder, tables.join(',')];
  await promisify(execFile)(pythonFor(place), argv);
}

export interface ForeignWriter {
  /** Numbers of rows that are there for certain, and of those that were tried. */
  end(): Promise<{ readonly added: readonly number[]; readonly tried: number }>;
}

export function startForeignWriter(place: ForeignPlace, table: string): ForeignWriter {
  const argv = ['-c', opening + appending, JSON.stringify(place), table];
  const child: ChildProcess = spawn(pythonFor(place), argv, { stdio: ['pipe', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  let output = '';
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    end: async () => {
      child.stdin!.end();
      await closed;
      return { added: numbersBehind('!', output), tried: numbersBehind('?', output).length };
    },
  };
}

function numbersBehind(mark: string, output: string): readonly number[] {
  return output.split('\n').flatMap((line) => (line.startsWith(`${mark} `) ? [Number(line.slice(2))] : []));
}

function pythonFor({ kind }: ForeignPlace): string {
  return programOf(kind === 'delta' ? 'deltalake' : 'pyiceberg')!;
}
