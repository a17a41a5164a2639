/** The lines of a package's parts. Ids are those of the installation that wrote it: they only tie the parts together. */
import { z } from 'zod';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { OriginFile } from '../../ports/stores/catalog.ts';
import { checkRelationalModel } from '../shapes/relational-model.ts';
import { object, sha256Text, shapeOf, storableText, wholeNumber } from '../shapes/json-shape.ts';
import type { Shape } from '../shapes/json-shape.ts';
import { checkSourceModel } from '../shapes/source-model.ts';
import { checkStatistics } from '../shapes/statistics.ts';
import type { PartName } from './format.ts';

const id = wholeNumber(1);
const position = wholeNumber(0, 2_147_483_647);
const number = wholeNumber(1, 2_147_483_647);
const moment = storableText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const name = storableText(/./);
const flag = z.boolean({ error: 'is neither true nor false' });

const originLine = z.object({
  origin: id,
  parent: id.nullable(),
  name: storableText(/^[^/]+$/),
  version: number,
  source_type: z.enum(['xsd', 'xml', 'xsd+xml'], { error: 'is not one of the known values' }),
  created: moment,
});
export type OriginLine = Readonly<z.infer<typeof originLine>>;

/** `content`: base64, of the files whose content is kept with the origin. */
const fileLine = z.object({
  origin: id,
  position,
  name: storableText(),
  bytes: wholeNumber(0),
  sha256: storableText(),
  content: storableText(/^[A-Za-z0-9+/]*={0,2}$/).optional(),
  entry: flag.optional(),
});
export type FileLine = OriginFile & Readonly<z.infer<typeof fileLine>>;

const naturalKeyLine = z.object({ table: name, column: name, position: number });
export type NaturalKeyLine = Readonly<z.infer<typeof naturalKeyLine>>;

/** `line`: index in the map, from 0. The model makes the line; this record holds only its activation by people. */
const mappingLine = z.object({
  logical_schema: id,
  line: wholeNumber(0),
  xpath: storableText().nullable(),
  table: storableText(),
  column: storableText().nullable(),
  active: flag,
});
export type MappingLine = Readonly<z.infer<typeof mappingLine>>;

const diagramLine = z.object({ logical_schema: id, saved: moment, svg: name });
export type DiagramLine = Readonly<z.infer<typeof diagramLine>>;

export interface SourceModelLine {
  readonly origin: number;
  readonly model: SourceModel;
}

export interface StatisticsLine {
  readonly origin: number;
  readonly statistics: unknown;
}

export interface JobStatisticsLine extends StatisticsLine {
  readonly created: string;
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

const owner = shapeOf(id);

export const lineShapes: { readonly [Part in PartName]: Shape } = {
  'origins.ndjson': shapeOf(originLine),
  'source_models.ndjson': object<SourceModelLine>({ origin: owner, model: checkSourceModel }),
  'files.ndjson': shapeOf(fileLine),
  'statistics.ndjson': object<StatisticsLine>({ origin: owner, statistics: checkStatistics }),
  'job_statistics.ndjson': object<JobStatisticsLine>({
    origin: owner,
    statistics: checkStatistics,
    created: shapeOf(moment),
  }),
  'natural_keys.ndjson': shapeOf(naturalKeyLine),
  'logical_schemas.ndjson': object<LogicalSchemaLine>(
    {
      logical_schema: owner,
      origin: owner,
      created: shapeOf(moment),
      model_hash: shapeOf(sha256Text),
      model: checkRelationalModel,
    },
    { variant: shapeOf(flag) },
  ),
  'mappings.ndjson': shapeOf(mappingLine),
  'diagrams.ndjson': shapeOf(diagramLine),
};
