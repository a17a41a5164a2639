/** Names of files and tables in the form that OpenLineage gives datasets: a namespace and a name within it. */
import type { JobRecord } from '../jobs/record.ts';

export interface DatasetName {
  readonly namespace: string;
  readonly name: string;
}

/** The metadata database, for targets of the form `metadb:NAME`. */
export interface NamedDatabase {
  /** `host:port` */
  readonly address: string;
  readonly name: string;
}

/** Returns the name of the dataset that a job read from or wrote to: a file, a folder, or all tables of a target. */
export function locationName(location: string, job: JobRecord, metadb: NamedDatabase): DatasetName {
  const ofMetadb = /^metadb:(.+)$/.exec(location)?.[1];
  if (ofMetadb !== undefined)
    return { namespace: `postgres://${metadb.address}`, name: `${metadb.name}.${ofMetadb}` };
  const url = /^postgres(?:ql)?:\/\//.test(location) ? URL.parse(location) : null;
  if (url !== null) {
    const sqlSchema = url.searchParams.get('schema') ?? 'public';
    return {
      namespace: `postgres://${url.hostname}:${url.port || '5432'}`,
      name: `${decodeURIComponent(url.pathname.slice(1))}.${sqlSchema}`,
    };
  }
  const [, place, key = ''] = /^((?:s3|az|https?):\/\/[^/]+)\/?(.*)$/.exec(location) ?? [];
  if (place !== undefined) return { namespace: place, name: key === '' ? '/' : key };
  const path = location.replace(/^(?:duckdb|sqlite):/, '');
  // paths of requests are relative to the organisation's own folder
  const absolute = path.startsWith('/') ? path : `${job.base_path ?? ''}/files/${job.id_org}/${path}`;
  return { namespace: 'file', name: absolute };
}

/** A table of a target. */
export function tableName(
  location: string,
  table: string,
  job: JobRecord,
  metadb: NamedDatabase,
): DatasetName {
  const { namespace, name } = locationName(location, job, metadb);
  return { namespace, name: `${name}${/^(?:file$|s3:)/.test(namespace) ? '/' : '.'}${table}` };
}
