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
      column('loaded_at', instant, 'when it was read', true),
      column('job', bigint, 'number of the job that loaded it', true),
      column('job_uuid', uuid, 'UUID of that job', true),
    ],
    primaryKey: ['document_key'],
    index: [],
  },
  loads: {
    name: sideTableNames.loads,
    comment: 'jobs that were published here, each once',
    columns: [
      column('job_uuid', uuid, 'identifies the job'),
      column('job', bigint, 'its number in the metadata database'),
      column('installation', shortText, 'metadata database'),
      column('id_sch', bigint, 'number of the origin there', true),
      column('id_lschma', bigint, 'number of the logical schema there', true),
      column('model_sha256', sha256, 'SHA-256 of its model, which identifies the logical schema', true),
      column('published_at', instant, 'when its rows became visible'),
      column('documents', bigint, 'documents it added, less those it removed'),
      column('rows', bigint, 'rows it added, less those it removed'),
    ],
    primaryKey: ['job_uuid'],
    index: [],
  },
  unmapped: {
    name: sideTableNames.unmapped,
    comment: 'content that the mapping does not know',
    columns: [
      column('document_key', bigint, 'document'),
      column('parent_table', shortText, 'table of the row it belongs to', true),
      column('parent_key', bigint, 'key of that row', true),
      column('position', bigint, 'place among the children of its parent', true),
      column('xpath', text, 'where it stood', true),
      column('kind', { kind: 'text', length: 16, fitsBytes: true }, 'what it is', true),
      column('content', text, 'the content, markup with its own namespaces', true),
    ],
    primaryKey: [],
    index: ['document_key'],
  },
  lexical: {
    name: sideTableNames.lexical,
    comment: 'values as written, where the column alone cannot give them back',
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
    comment: 'highest row key in use by table',
    columns: [
      column('table_name', shortText, 'table'),
      column('last_value', bigint, 'highest key given out'),
    ],
    primaryKey: ['table_name'],
    index: [],
  },
};

/** The columns that `_documents` has in addition once documents have been merged (`-S m`). They are NULL in rows that other loads add. */
export const mergeColumns: readonly SideColumn[] = [
  column('key', text, 'what tells the document from all others: values of it, or its name', true),
  column('valid_from', instant, 'when it came, or took the place of the one before', true),
  column(
    'valid_to',
    instant,
    'when another one took its place, or its source was gone; empty: it is current',
    true,
  ),
];

/** Codes and their meanings, in targets for which a load was asked to store them (`--codes`). Rows are identified by type and code. */
export const codesTable: SideTableDefinition = {
  name: '_codes',
  comment:
    'codes that the schema enumerates, and what they mean; made by the load, which keeps it up to date',
  columns: [
    { ...column('type', text, 'simple type that the code is of'), usualLength: 255 },
    { ...column('code', text, 'the code'), usualLength: 255 },
    column('label', text, 'what it is called', true),
    column('documentation', text, 'what it means', true),
  ],
  primaryKey: ['type', 'code'],
  index: [],
};
