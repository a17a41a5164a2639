/** The lines of a package's parts. Ids are those of the installation that wrote it: they only tie the parts together. */
import type { RelationalModel } from '../engine/model/relational-model.ts';
import type { SourceModel } from '../engine/model/source-model.ts';
import type { OriginFile } from '../ports/catalog-store.ts';
import { checkRelationalModel } from './relational-model-check.ts';
import { flag, integer, nullable, object, oneOf, text } from './shape.ts';
import type { Shape } from './shape.ts';
import { checkSourceModel } from './source-model-check.ts';
import { checkStatistics } from './statistics-check.ts';
import type { PartName } from './package-format.ts';

export interface OriginLine {
  readonly origin: number;
  readonly parent: number | null;
  readonly name: string;
  readonly version: number;
  readonly source_type: 'xsd' | 'xml' | 'xsd+xml';
  readonly created: string;
}

export interface SourceModelLine {
  readonly origin: number;
  readonly model: SourceModel;
}

/** `content`: base64, of the files whose content is kept with the origin. */
export interface FileLine extends OriginFile {
  readonly origin: number;
  readonly position: number;
  readonly content?: string;
  readonly entry?: boolean;
}

export interface StatisticsLine {
  readonly origin: number;
  readonly statistics: unknown;
}

export interface JobStatisticsLine extends StatisticsLine {
  readonly created: string;
}

export interface NaturalKeyLine {
  readonly table: string;
  readonly column: string;
  readonly position: number;
}

export interface LogicalSchemaLine {
  readonly logical_schema: number;
  readonly origin: number;
  readonly created: string;
  readonly model_hash: string;
  readonly model: RelationalModel;
  /** absent: no variant */
  readonly variant?: boolean;
}

/** `line`: place in the map, from 0. The model makes the line; what people switched is told here. */
export interface MappingLine {
  readonly logical_schema: number;
  readonly line: number;
  readonly xpath: string | null;
  readonly table: string;
  readonly column: string | null;
  readonly active: boolean;
}

export interface DiagramLine {
  readonly logical_schema: number;
  readonly saved: string;
  readonly svg: string;
}

export interface PartLines {
  readonly 'origins.ndjson': OriginLine;
  readonly 'source_models.ndjson': SourceModelLine;
  readonly 'files.ndjson': FileLine;
  readonly 'statistics.ndjson': StatisticsLine;
  readonly 'job_statistics.ndjson': JobStatisticsLine;
  readonly 'natural_keys.ndjson': NaturalKeyLine;
  readonly 'logical_schemas.ndjson': LogicalSchemaLine;
  readonly 'mappings.ndjson': MappingLine;
  readonly 'diagrams.ndjson': DiagramLine;
}

const id = integer(1);
const moment = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const hash = text(/^[0-9a-f]{64}$/);

export const lineShapes: { readonly [Part in PartName]: Shape } = {
  'origins.ndjson': object<OriginLine>({
    origin: id,
    parent: nullable(id),
    name: text(/^[^/]+$/),
    version: integer(1, 2_147_483_647),
    source_type: oneOf('xsd', 'xml', 'xsd+xml'),
    created: moment,
  }),
  'source_models.ndjson': object<SourceModelLine>({ origin: id, model: checkSourceModel }),
  'files.ndjson': object<FileLine>(
    { origin: id, position: integer(0, 2_147_483_647), name: text(), bytes: integer(0), sha256: text() },
    { content: text(/^[A-Za-z0-9+/]*={0,2}$/), entry: flag },
  ),
  'statistics.ndjson': object<StatisticsLine>({ origin: id, statistics: checkStatistics }),
  'job_statistics.ndjson': object<JobStatisticsLine>({
    origin: id,
    statistics: checkStatistics,
    created: moment,
  }),
  'natural_keys.ndjson': object<NaturalKeyLine>({
    table: text(/./),
    column: text(/./),
    position: integer(1, 2_147_483_647),
  }),
  'logical_schemas.ndjson': object<LogicalSchemaLine>(
    { logical_schema: id, origin: id, created: moment, model_hash: hash, model: checkRelationalModel },
    { variant: flag },
  ),
  'mappings.ndjson': object<MappingLine>({
    logical_schema: id,
    line: integer(0),
    xpath: nullable(text()),
    table: text(),
    column: nullable(text()),
    active: flag,
  }),
  'diagrams.ndjson': object<DiagramLine>({ logical_schema: id, saved: moment, svg: text(/./) }),
};
