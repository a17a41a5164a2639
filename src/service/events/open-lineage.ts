/** OpenLineage events for runs of jobs (specification 2-0-2): START, then one of COMPLETE, FAIL and ABORT. */
import { sha256Hex } from '../access/keys.ts';
import { columnType, isText, transformationOf } from '../catalog/lineage.ts';
import { listMappingsOfLogicalSchema } from '../catalog/mapping-figures.ts';
import { AppError } from '../../errors.ts';
import type { JobRecord, JobStatus } from '../jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { MappingRecord, TableRecord } from '../../ports/stores/catalog.ts';
import {
  actionOf,
  rowsByTable,
  runEventJson,
  type Dataset,
  type Facet,
  type JobEvent,
  type RunEvent,
} from './deliver.ts';

interface LineageSettings {
  /** OpenLineage's namespace of the jobs */
  readonly namespace: string;
  /** a URI that names this program and its version */
  readonly producer: string;
  readonly metadb: NamedDatabase;
}

const specification = 'https://openlineage.io/spec';
const ends: Readonly<Partial<Record<JobStatus, RunEvent['eventType']>>> = {
  completed: 'COMPLETE',
  failed: 'FAIL',
  expired: 'FAIL',
  lost: 'FAIL',
  killed: 'ABORT',
};

type Stores = Pick<Adapters, 'catalog' | 'jobs'>;

/** `path`: of the facet's schema. */
type MakeFacet = (path: string, members: object) => Facet;

/** Returns the event as JSON. If the schema of the job no longer exists, its tables are left out. */
export async function openLineageBody(
  { catalog, jobs }: Stores,
  settings: LineageSettings,
  { moment, job, occurred }: JobEvent,
): Promise<string> {
  const facet: MakeFacet = (path, members) => ({
    _producer: settings.producer,
    _schemaURL: `${specification}/facets/${path}`,
    ...members,
  });
  const eventType = moment === 'started' ? 'START' : (ends[job.status] ?? 'OTHER');
  return runEventJson({
    eventType,
    eventTime: new Date(occurred).toISOString(),
    producer: settings.producer,
    schemaURL: `${specification}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    run: { runId: await runId({ catalog, jobs }, job.id_job), facets: runFacets(job, eventType, facet) },
    job: {
      namespace: settings.namespace,
      name: await jobName({ catalog, jobs }, job),
      facets: {
        jobType: facet('2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet', {
          processingType: 'BATCH',
          integration: 'CONVERSION_JOB_SERVICE',
          jobType: job.job_type.toUpperCase(),
        }),
      },
    },
    inputs: inputsOf(job, settings.metadb),
    outputs: job.status === 'completed' ? await outputsOf() : [],
  });

  async function outputsOf(): Promise<Dataset[]> {
    const location = job.parm_path_output;
    if (location === null) return [];
    if (job.id_lschma === null || job.job_type !== 'Parse')
      return [locationName(location, job, settings.metadb)];
    const run = await jobs.findRun(job.id_org, job.id_job);
    const rows = rowsByTable(run?.summary ?? null);
    const [tables, mappings] = await Promise.all([
      catalog.listTables(job.id_org, job.id_lschma),
      job.id_sch === null ? [] : listMappingsOfLogicalSchema(catalog, job.id_org, job.id_sch, job.id_lschma),
    ]);
    const ofTable = Map.groupBy(mappings, (line) => line.id_tab);
    return tables
      .filter(({ name }) => Object.hasOwn(rows, name))
      .map((table) => ({
        ...tableName(location, table.name, job, settings.metadb),
        facets: {
          schema: facet('1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet', {
            fields: fieldsOf(table),
          }),
          columnLineage: facet('1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet', {
            fields: lineageOf(ofTable.get(table.id_tab) ?? [], inputsOf(job, settings.metadb)),
          }),
        },
        outputFacets: {
          outputStatistics: facet(
            '1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet',
            { rowCount: rows[table.name] },
          ),
        },
      }));
  }
}

/**
 * Returns one name for all runs of a kind, and for all events of a run, from the facts known at submission: the schema, the name of the
 * new schema, or the input.
 */
async function jobName({ catalog, jobs }: Stores, job: JobRecord): Promise<string> {
  const action = actionOf(job);
  const given = String(action['origin'] ?? '');
  const idSch = /^\d{1,15}$/.test(given) ? Number(given) : await referredOrigin(jobs, job, given);
  const origin = idSch === null ? null : await catalog.findOrigin(job.id_org, idSch);
  const name =
    origin?.name ?? action['name'] ?? job.parm_path_input?.split('/').findLast((step) => step !== '');
  return [`org-${job.id_org}`, job.job_type, ...(typeof name === 'string' ? [name] : [])].join('.');
}

/**
 * Resolves `$N`, the result of an earlier job of the workflow; the record of a job contains it instead of the reference only once the
 * job has begun.
 */
async function referredOrigin(jobs: Stores['jobs'], job: JobRecord, given: string): Promise<number | null> {
  const position = /^\$(\d{1,4})$/.exec(given)?.[1];
  if (position === undefined) return null;
  const workflow = await jobs.findWorkflow(job.id_org, job.id_workflow);
  return workflow?.jobs[Number(position)]?.id_sch ?? null;
}

function runFacets(job: JobRecord, eventType: string, facet: MakeFacet): Readonly<Record<string, Facet>> {
  if (eventType !== 'FAIL' && eventType !== 'ABORT') return {};
  return {
    errorMessage: facet('1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet', {
      message: job.failure ?? 'no reason was recorded',
      programmingLanguage: 'TypeScript',
    }),
  };
}

function inputsOf(job: JobRecord, metadb: NamedDatabase): DatasetName[] {
  return job.parm_path_input === null ? [] : [locationName(job.parm_path_input, job, metadb)];
}

function fieldsOf({ columns }: TableRecord): readonly object[] {
  return columns.map((column, at) => ({
    name: column.name,
    type: columnType(column),
    ordinal_position: at + 1,
    ...(column.xpath === null ? {} : { description: column.xpath }),
  }));
}

/** Returns the document paths from which the values of each column come. */
function lineageOf(lines: readonly MappingRecord[], inputs: readonly DatasetName[]): Record<string, object> {
  const sources = lines.filter(({ column_name: column, xpath }) => column !== null && xpath !== null);
  return Object.fromEntries(
    [...Map.groupBy(sources, (line) => line.column_name!)].map(([column, ofColumn]) => [
      column,
      {
        inputFields: inputs.flatMap((input) =>
          ofColumn.map((line) => ({
            ...input,
            field: line.xpath,
            transformations: [
              {
                type: 'DIRECT',
                subtype: isText(line) ? 'IDENTITY' : 'TRANSFORMATION',
                description: transformationOf(line),
                masking: false,
              },
            ],
          })),
        ),
      },
    ]),
  );
}

/** The UUID of the job; of one whose record was removed meanwhile, one that is the same in every event: version 8, of a hash. */
async function runId({ catalog, jobs }: Stores, idJob: number): Promise<string> {
  try {
    return (await jobs.findStoredJob(idJob)).uuid;
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'not_found')) throw error;
  }
  const hex = await sha256Hex(`${await catalog.installation()}/job/${idJob}`);
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

// Names of files and tables in the form that OpenLineage gives datasets: a namespace and a name within it.

interface DatasetName {
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
function locationName(location: string, job: JobRecord, metadb: NamedDatabase): DatasetName {
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
function tableName(location: string, table: string, job: JobRecord, metadb: NamedDatabase): DatasetName {
  const { namespace, name } = locationName(location, job, metadb);
  return { namespace, name: `${name}${/^(?:file$|s3:)/.test(namespace) ? '/' : '.'}${table}` };
}
