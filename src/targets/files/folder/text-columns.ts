/**
 * Columns of a folder that are text although the model has another type. Their values are as in the documents. If the typed value does not
 * show that, as for dates and times with an offset, the files are rewritten with the text from `_lexical`.
 */
import { join } from 'node:path';
import { peekElement, peekMember } from '../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../engine/model/packed/models.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { ManifestFile, ManifestTable, FileOfJob, NotedTypes } from './manifest.ts';
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import { isTypedValue } from '../../rows/written-texts.ts';
import { rewriteFile, type FileRewriting, type WrittenColumns } from './rewritten-file.ts';

export interface TextColumnsStep {
  readonly model: RelationalModel;
  readonly rewriting: Omit<FileRewriting, 'scratch'>;
  /** the folder of the job's own files */
  readonly staging: string;
  /** the files of earlier jobs */
  readonly kept: readonly ManifestTable[];
  readonly added: ReadonlyMap<string, readonly FileOfJob[]>;
  readonly columnsOf: (table: string) => readonly string[];
  /** by table, the columns that values of this job turned into another type */
  readonly widened: NotedTypes;
  /** Returns a path of this machine with the content of a file of an earlier job. */
  readonly localFile: (name: string) => Promise<string>;
  /** Returns a name in the staging folder for a file that replaces one of an earlier job. */
  readonly nameFor: (table: string) => string;
}

export interface WrittenTexts {
  readonly kept: readonly ManifestTable[];
  readonly added: ReadonlyMap<string, readonly FileOfJob[]>;
}

/**
 * Returns, by table, the names of value columns that are text in the folder: those that were before the job, and those that its values
 * turned.
 */
export function textColumnsOf(
  model: RelationalModel,
  kept: readonly ManifestTable[],
  widened: NotedTypes,
): ReadonlyMap<
  string,
  {
    readonly all: ReadonlySet<string>;
    readonly turned: ReadonlySet<string>;
    readonly offsets: ReadonlyMap<string, string>;
  }
> {
  const before = new Map(
    kept.flatMap(({ name, text_columns: texts }) =>
      texts.length === 0 ? [] : [[name, new Set(texts)] as const],
    ),
  );
  const known = new Set([...before.keys(), ...widened.keys()]);
  return new Map(
    [...known].flatMap((name) => {
      const index = tableIndexes(model).get(name);
      if (index === undefined) return [];
      const were = before.get(name) ?? new Set();
      const columns = peekMember(peekElement(model.tables, index), 'columns');
      const offsets = new Map(
        columns.flatMap((column, at) =>
          hasOffsetBehind(columns, at) ? [[column.name, columns[at + 1]!.name] as const] : [],
        ),
      );
      const typed = columns.filter(isTypedValue);
      const names = typed.map((column) => column.name);
      const isText = (column: string): boolean => widened.get(name)?.get(column)?.kind === 'text';
      const all = new Set(names.filter((column) => were.has(column) || isText(column)));
      const turned = new Set(names.filter((column) => !were.has(column) && isText(column)));
      return all.size === 0 ? [] : [[name, { all, turned, offsets }] as const];
    }),
  );
}

export async function withWrittenTexts(step: TextColumnsStep): Promise<WrittenTexts> {
  const { model, staging, kept, columnsOf, widened } = step;
  const texts = textColumnsOf(model, kept, widened);
  if (texts.size === 0) return step;
  const { lexical } = sideTableNames;
  const rewriting = { ...step.rewriting, scratch: staging };
  const added = new Map(step.added);
  const ownLexical = (added.get(lexical) ?? []).map(({ name }) => join(staging, name));
  for (const [table, { all, offsets }] of texts) {
    const files: FileOfJob[] = [];
    for (const file of added.get(table) ?? []) {
      const path = join(staging, file.name);
      const own = { path, columns: columnsOf(table), types: file.types };
      const written = { table, columns: all, offsets, lexical: ownLexical };
      const made = ownLexical.length === 0 ? null : await rewriteFile(rewriting, own, written, path);
      files.push(made === null ? file : { ...file, ...made });
    }
    if (files.length > 0) added.set(table, files);
  }
  const lexicalBefore = kept.find(({ name }) => name === lexical)?.files ?? [];
  const tables: ManifestTable[] = [];
  for (const table of kept) {
    const { turned = new Set<string>(), offsets = new Map<string, string>() } = texts.get(table.name) ?? {};
    const files: ManifestFile[] = [];
    for (const file of table.files)
      files.push(
        turned.size === 0
          ? file
          : await rewrittenBefore(step, { table: table.name, columns: turned, offsets }, file),
      );
    tables.push({ ...table, files });
  }
  return { kept: tables, added };

  async function rewrittenBefore(
    { localFile, nameFor }: TextColumnsStep,
    text: Omit<WrittenColumns, 'lexical'>,
    file: ManifestFile,
  ): Promise<ManifestFile> {
    const { table, columns } = text;
    const beside = lexicalBefore.filter((other) => other.job_uuid === file.job_uuid);
    const isTyped = file.types?.some((type, at) => columns.has(file.columns[at]!) && type !== 'VARCHAR');
    if (file.rows === 0 || (beside.length === 0 && isTyped !== true)) return file;
    const before = { path: await localFile(file.name), columns: file.columns, types: file.types };
    const lexical: string[] = [];
    for (const other of beside) lexical.push(await localFile(other.name));
    const written = { ...text, lexical };
    const name = nameFor(table);
    const made = await rewriteFile(rewriting, before, written, join(staging, name));
    return made === null ? file : { ...file, ...made, name };
  }
}
