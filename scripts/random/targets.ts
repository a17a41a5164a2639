/** Loads a random set into real targets by the tools that people run, reads the rows there, and writes the documents back. */
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { duckDbReader, folderReader, type TargetReader } from '../../test/contracts/row-sinks/readers.ts';
import { createServiceHome, type ServiceHome } from '../../test/support/service/start.ts';
import { convert } from '../../test/support/service/tools.ts';
import { compileSchema, drawModel, linesOf } from './engine/load.ts';
import { checkRows } from './oracle/check-rows.ts';
import type { LoadedRows, Row } from './oracle/placed-documents.ts';
import { compareDocument } from './oracle/same-document.ts';
import { keyOf } from './schema/terms.ts';
import type { RandomSet } from './set.ts';
import { validate, writeTexts } from './xmllint.ts';

const kinds = ['sqlite', 'duckdb', 'tsv', 'jsonl', 'parquet'] as const;
type Kind = (typeof kinds)[number];

/** The home folder of the tools, made when it is first needed. */
export interface TargetTrial {
  check(set: RandomSet): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function createTargetTrial(): TargetTrial {
  let home: ServiceHome | null = null;
  return {
    async check(set) {
      home ??= await createServiceHome();
      const folder = await mkdtemp(join(tmpdir(), 'random-targets-'));
      try {
        return await checkTargets(set, home, folder);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    close: async () => await home?.remove(),
  };
}

async function checkTargets(set: RandomSet, home: ServiceHome, folder: string): Promise<readonly string[]> {
  const { schema, files, random } = set;
  // as the tools draw it, with the roots that the set itself suggests
  const model = drawModel(compileSchema(files), [], { mapLevel: 3, roots: [], prune: false });
  const roots = model.roots.map(({ name }) => keyOf({ uri: name.namespaceUri, local: name.localName }));
  const used = set.trees.flatMap((tree, at) => (roots.includes(keyOf(tree.name)) ? [at] : []));
  if (used.length === 0) return [];
  const trees = used.map((at) => set.trees[at]!);
  const documents = used.map((at) => set.documents[at]!);
  writeTexts(join(folder, 'set'), files);
  writeTexts(join(folder, 'in'), Object.fromEntries(documents.map((text, at) => [nameOf(at), text])));
  const lines = linesOf(model);
  const { origin } = await convert(home, 'xsd2er', join(folder, 'set'));
  const faults: string[] = [];
  for (const kind of kinds.filter(() => random.chance(0.5))) {
    const place = join(folder, kind);
    const target =
      kind === 'sqlite' || kind === 'duckdb' ? [`${kind}:${place}.${kind}`] : [place, '-f', kind];
    const { logical } = await convert(
      home,
      'xml2er',
      join(folder, 'in'),
      '-x',
      String(origin),
      '-o',
      ...target,
    );
    const rows = await rowsIn(
      readerOf(kind, place),
      model.tables.map(({ name }) => name),
    );
    const rootUri = model.roots[0]!.name.namespaceUri;
    const loaded = { ...model, rootUri, lines, occurrences: null, rows };
    const isHere = kind === 'sqlite' ? withoutLists(loaded) : loaded;
    faults.push(...checkRows(isHere, trees, schema).map((text) => `${kind}: ${text}`));
    const back = join(folder, `back-${kind}`);
    await convert(home, 'er2xml', '-l', String(logical), '-i', target[0]!, '-o', back);
    const written = trees.map((_, at) => readFileSync(join(back, nameOf(at)), 'utf8'));
    for (const [at, tree] of trees.entries())
      faults.push(
        ...compareDocument(tree, written[at]!, { typed: true }).map(
          (text) => `${kind}: ${nameOf(at)} ${text}`,
        ),
      );
    if (set.padded || faults.length > 0) continue;
    const { refusal, complaints } = validate(files, written);
    if (refusal === null)
      faults.push(
        ...complaints.filter((one) => one !== '').map((one) => `${kind}: valid in, not valid out: ${one}`),
      );
  }
  return faults.slice(0, 8);
}

function nameOf(at: number): string {
  return `${String(at + 1).padStart(4, '0')}.xml`;
}

function readerOf(kind: Kind, place: string): TargetReader {
  if (kind === 'sqlite') return sqliteReader(`${place}.sqlite`);
  return kind === 'duckdb' ? duckDbReader(`${place}.duckdb`) : folderReader(place, kind);
}

async function rowsIn(reader: TargetReader, tables: readonly string[]): Promise<LoadedRows['rows']> {
  const rows: Record<string, readonly Row[]> = Object.create(null);
  for (const table of tables) rows[table] = (await reader.read(table)) ?? [];
  return rows;
}

function sqliteReader(file: string): TargetReader {
  return {
    read: async (table) => {
      const database = new DatabaseSync(file, { readOnly: true });
      try {
        const known = database.prepare('select 1 from sqlite_schema where name = ?').get(table);
        if (known === undefined) return null;
        const statement = database.prepare(`select * from "${table.replaceAll('"', '""')}"`);
        statement.setReadBigInts(true);
        return statement
          .all()
          .map((row) =>
            Object.fromEntries(
              Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
            ),
          );
      } finally {
        database.close();
      }
    },
  };
}

/** SQLite has no arrays: items of lists have a table of their own. */
function withoutLists(loaded: LoadedRows): LoadedRows {
  const isList = (table: string, column: string | null): boolean =>
    loaded.tables.some(
      ({ name, columns }) =>
        name === table && columns.some((one) => one.name === column && one.type.list === true),
    );
  return { ...loaded, skips: (line) => isList(line.table_name, line.column_name) };
}
