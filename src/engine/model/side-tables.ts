/** The side tables of every target (docs/decisions/model/side-tables.md). Their names start with an underscore. */
import type { ColumnType } from './relational-model.ts';

export interface SideColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly comment: string;
  /** length for databases in which text without a length is a large object */
  readonly usualLength?: number;
}

export interface SideTableDefinition {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly SideColumn[];
  /** names of the key's columns; empty: rows have no key */
  readonly primaryKey: readonly string[];
  /** names of the columns that rows are looked up by; empty: the primary key is enough */
  readonly index: readonly string[];
}

export type SideTableName = 'documents' | 'loads' | 'unmapped' | 'lexical' | 'keys';

/** Reserved: no table of a model may be called like one of these. */
export const sideTableNames: Readonly<Record<SideTableName, string>> = {
  documents: '_documents',
  loads: '_loads',
  unmapped: '_unmapped',
  lexical: '_lexical',
  keys: '_keys',
};

/** Prefix of the temporary objects of loads. No table of a model has a name with it, in upper or lower case. */
export const ownPrefix = '_svc_';

export function hasOwnPrefix(name: string): boolean {
  return /^_svc(?:_|$)/i.test(name);
}

/** The name of the column with the key of the file in `_documents`, in every table. No other column has this name. */
export const fileKeyName = 'document_key';

const bigint: ColumnType = { kind: 'bigint' };
const text: ColumnType = { kind: 'text' };
/** names of tables and columns (128 bytes at most), and parts of keys, for which some databases require a length */
const shortText: ColumnType = { kind: 'text', length: 255, fitsBytes: true };
const sha256: ColumnType = { kind: 'text', length: 64, fitsBytes: true };
const uuid: ColumnType = { kind: 'text', length: 36, fitsBytes: true };
const instant: ColumnType = { kind: 'timestamptz' };

function column(name: string, type: ColumnType, comment: string, nullable = false): SideColumn {
  return { name, type, nullable, comment };
}

export const sideTableDefinitions: Readonly<Record<SideTableName, SideTableDefinition>> = {
  documents: {
    name: sideTableNames.documents,
    comment: 'documents that were loaded',
    columns: [
      column('document_key', bigint, 'document'),
      {
        ...column('name', text, 'name of the file, or of the member of an archive', true),
        usualLength: 1000,
      },
      column('sha256', sha256, 'SHA-256 of its bytes, hexadecimal', true),
      column('bytes', bigint, 'size', true),
      column('loaded_at', instant, 'time at which it was read', true),
      column('job', bigint, 'number of the job that loaded it', true),
      column('job_uuid', uuid, 'UUID of that job', true),
    ],
    primaryKey: ['document_key'],
    index: [],
  },
  loads: {
    name: sideTableNames.loads,
    comment: 'jobs that were published in this target',
    columns: [
      column('job_uuid', uuid, 'identifies the job'),
      column('job', bigint, 'its number in the metadata database'),
      column('installation', shortText, 'UUID of the metadata database'),
      column('id_sch', bigint, 'number of the origin there', true),
      column('id_lschma', bigint, 'number of the logical schema there', true),
      column('model_sha256', sha256, 'SHA-256 of its model, which identifies the logical schema', true),
      column('published_at', instant, 'time at which its rows became visible'),
      column('documents', bigint, 'documents that it added, minus those that it removed'),
      column('rows', bigint, 'rows that it added, minus those that it removed'),
    ],
    primaryKey: ['job_uuid'],
    index: [],
  },
  unmapped: {
    name: sideTableNames.unmapped,
    comment: 'content that the schema does not declare',
    columns: [
      column('document_key', bigint, 'document'),
      column('parent_table', shortText, 'table of the row that it belongs to', true),
      column('parent_key', bigint, 'key of that row', true),
      column('position', bigint, 'position among the children of its parent', true),
      column('xpath', text, 'its path in the document', true),
      column(
        'kind',
        { kind: 'text', length: 16, fitsBytes: true },
        'kind: element, attribute, text and others',
        true,
      ),
      column('content', text, 'the content; markup has its own namespace declarations', true),
    ],
    primaryKey: [],
    index: ['document_key'],
  },
  lexical: {
    name: sideTableNames.lexical,
    comment: 'original texts of values that their column cannot return exactly',
    columns: [
      column('document_key', bigint, 'document'),
      column('table_name', shortText, 'table of the value'),
      column('row_key', bigint, 'key of its row'),
      column('column_name', shortText, 'column of the value'),
      column('content', text, 'the value as written', true),
    ],
    primaryKey: [],
    index: ['document_key'],
  },
  keys: {
    name: sideTableNames.keys,
    comment: 'highest row key of each table',
    columns: [
      column('table_name', shortText, 'table'),
      column('last_value', bigint, 'highest key that was given out'),
    ],
    primaryKey: ['table_name'],
    index: [],
  },
};

/** The columns that `_documents` has in addition once documents have been merged (`-S m`). They are NULL in rows that other loads add. */
export const mergeColumns: readonly SideColumn[] = [
  column('key', text, 'key of the document: values of it, or its name', true),
  column('valid_from', instant, 'time from which it is valid', true),
  column('valid_to', instant, 'time until which it was valid; NULL: it is current', true),
];

/** Codes and their meanings, in targets for which a load was asked to store them (`--codes`). Rows are identified by type and code. */
export const codesTable: SideTableDefinition = {
  name: '_codes',
  comment:
    'codes that the schema enumerates, and what they mean; made by the load, which keeps it up to date',
  columns: [
    { ...column('type', text, 'simple type of the code'), usualLength: 255 },
    { ...column('code', text, 'the code'), usualLength: 255 },
    column('label', text, 'name of the code', true),
    column('documentation', text, 'meaning of the code', true),
  ],
  primaryKey: ['type', 'code'],
  index: [],
};
