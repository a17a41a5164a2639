/** The structure of a table's metadata (Iceberg table specification, version 2, "Table Metadata"). */

/** A field of a schema. */
export interface IcebergField {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: unknown;
  readonly doc?: string;
}

export interface Schema {
  readonly type: 'struct';
  readonly 'schema-id': number;
  readonly 'identifier-field-ids'?: readonly number[];
  readonly fields: readonly IcebergField[];
}

export interface Snapshot {
  readonly 'snapshot-id': number | bigint;
  readonly 'parent-snapshot-id'?: number | bigint | null;
  readonly 'sequence-number': number;
  readonly 'timestamp-ms': number;
  readonly 'manifest-list': string;
  readonly summary: Readonly<Record<string, string>>;
  readonly 'schema-id'?: number;
}

/** A field of a partition spec. */
export interface SpecField {
  readonly name: string;
  readonly transform: string;
  readonly 'source-id': number;
  readonly 'field-id': number;
}

export interface PartitionSpec {
  readonly 'spec-id': number;
  readonly fields: readonly SpecField[];
}

export interface TableMetadata {
  readonly 'format-version': number;
  readonly 'table-uuid': string;
  readonly location: string;
  readonly 'last-sequence-number': number;
  readonly 'last-updated-ms': number;
  readonly 'last-column-id': number;
  readonly schemas: readonly Schema[];
  readonly 'current-schema-id': number;
  readonly 'partition-specs': readonly PartitionSpec[];
  readonly 'default-spec-id': number;
  readonly properties?: Readonly<Record<string, string>>;
  readonly 'current-snapshot-id'?: number | bigint | null;
  readonly snapshots?: readonly Snapshot[];
  readonly 'snapshot-log'?: readonly unknown[];
  readonly 'metadata-log'?: readonly unknown[];
  readonly refs?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}
