/** Writes a data dictionary: a line for every column, with its business name, its meaning, and statistics of documents. */
import { mapInSlices } from '../in-slices.ts';
import { postgresql } from '../sql/dialects/postgresql.ts';
import { codeListsOf } from './described.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';

/** Statistics of the values that documents had in a column. */
export interface ValueSample {
  /** null: not kept */
  readonly sample: string | null;
  /** 0 to 1; null: not known */
  readonly nullShare: number | null;
}

export interface DictionaryLine extends ValueSample {
  readonly table: string;
  readonly column: string;
  /** '' if the source has none */
  readonly businessName: string;
  readonly definition: string;
  readonly path: string | null;
  /** PostgreSQL's name of the type */
  readonly type: string;
  readonly isNullable: boolean;
  /** `default EUR`, `fixed 2.1`, or '' */
  readonly constraint: string;
  /** `primary key`, `refers to TABLE`, `means TABLE.COLUMN of the same document`, or '' */
  readonly key: string;
  /** `CODE: documentation` */
  readonly codes: readonly string[];
  /** types that these are of, as the lists of codes are called */
  readonly codeTypes: readonly string[];
}

/** Table by table. `held`: by names of table and column. */
export async function dictionaryLines(
  model: DescribedModel,
  held: (table: string, column: string) => ValueSample,
): Promise<readonly (readonly DictionaryLine[])[]> {
  const isNamed = namesBusinessTerms(model.tables);
  return await mapInSlices(model.tables, (table) =>
    table.columns.map((column) => ({
      table: table.name,
      column: column.name,
      ...meaningOf(column, isNamed),
      path: column.xpath,
      type: postgresql.typeName(column.type),
      isNullable: column.nullable,
      constraint: column.constraint,
      key: keyOf(table, column),
      codes: (column.enumeration ?? []).map((code) => {
        const said = column.saidOfValues.get(code);
        return said === undefined ? code : `${code}: ${said}`;
      }),
      codeTypes: column.codeLists.map(({ type }) => type),
      ...held(table.name, column.name),
    })),
  );
}

function keyOf(table: DescribedTable, { name, meaning }: DescribedColumn): string {
  const referred = table.references
    .filter(({ column }) => column === name)
    .map(({ parentTable }) => `refers to ${parentTable}`);
  const meant = meaning === '' ? [] : [meaning];
  return [...(table.primaryKey.includes(name) ? ['primary key'] : []), ...referred, ...meant].join(', ');
}

/** A name and its definition, in the form in which structured annotations are read (`src/engine/xsd/components/annotation.ts`). */
const termAndDefinition = /^(?<term>\S.{0,118}?\S?): (?<definition>\S.*)$/su;
/** the least share of documented columns with a name for a source to count as one with business names */
const leastNamed = 0.8;

/** A single text may contain a colon by chance: the source only has business names if nearly all of its texts begin with one. */
function namesBusinessTerms(tables: readonly DescribedTable[]): boolean {
  let documented = 0;
  let named = 0;
  for (const { columns, xpath } of tables)
    for (const { documentation } of xpath === null ? [] : columns) {
      if (documentation === '') continue;
      documented += 1;
      if (termAndDefinition.test(documentation)) named += 1;
    }
  return named > 0 && named >= documented * leastNamed;
}

/** Returns the meaning of a column. Keys and positions have no source, so their comment is used. */
function meaningOf(
  { documentation, description, xpath }: DescribedColumn,
  isNamed: boolean,
): Pick<DictionaryLine, 'businessName' | 'definition'> {
  if (documentation === '') return { businessName: '', definition: xpath === null ? description : '' };
  const groups = isNamed ? termAndDefinition.exec(documentation)?.groups : undefined;
  return groups === undefined
    ? { businessName: '', definition: documentation }
    : { businessName: groups['term']!, definition: groups['definition']! };
}

/** Markdown (GitHub's tables), in pieces: a section for each table. */
export async function dictionaryMarkdown(
  { name, version, tables }: DescribedModel,
  lines: readonly (readonly DictionaryLine[])[],
): Promise<readonly string[]> {
  const sections = await mapInSlices(tables, (table, at) => {
    const rows = lines[at]!.map((line) =>
      row([
        line.column,
        line.businessName,
        line.definition,
        line.path ?? '',
        [
          line.type,
          ...(line.isNullable ? [] : ['not null']),
          ...(line.constraint === '' ? [] : [line.constraint]),
        ].join(', '),
        line.key,
        line.codes.join('; '),
        line.sample ?? '',
        line.nullShare === null ? '' : `${Math.round(line.nullShare * 1000) / 10} %`,
      ]),
    );
    const about = [...(table.xpath === null ? [] : [cell(table.xpath)]), cell(table.documentation)]
      .filter((text) => text !== '')
      .join(': ');
    return `\n## ${cell(table.name)}\n\n${about === '' ? '' : `${about}\n\n`}${row(heading)}${row(heading.map(() => '---'))}${rows.join('')}`;
  });
  return [`# ${cell(name)}, version ${version}\n`, ...sections, ...(await codeSections({ tables }))];
}

const codeHeading = ['code', 'label', 'documentation'];

/** A section for each list of codes. */
async function codeSections(described: Pick<DescribedModel, 'tables'>): Promise<readonly string[]> {
  const lists = codeListsOf(described);
  const sections = await mapInSlices(lists, ({ type, codes }) => {
    const rows = codes.map(({ code, label, documentation }) => row([code, label ?? '', documentation ?? '']));
    return `\n### ${cell(type)}\n\n${row(codeHeading)}${row(codeHeading.map(() => '---'))}${rows.join('')}`;
  });
  return lists.length === 0 ? [] : ['\n## Codes\n', ...sections];
}

const heading = ['column', 'business name', 'definition', 'path', 'type', 'key', 'codes', 'sample', 'NULL'];

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |\n`;
}

/** Returns the text on one line, without markup. */
function cell(text: string): string {
  if (text === '---') return text;
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]<>#|~]/g, String.raw`\$&`);
}
