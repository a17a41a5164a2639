/** The settings for shredding the documents of a load. */
import type { ShredderOptions } from '../../engine/shred/shredder.ts';
import type { NameTable } from '../../engine/xml/tokens.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { RowSink } from '../../ports/rows/sink.ts';
import type { InputMember } from '../inputs/members.ts';
import { extrasOf, unfilledExtras, valuesOf } from '../schemas/extra-values.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** The file that is shredded, as extra columns have it. */
export interface FileOfRows {
  path: string;
  name: string;
  carried: InputMember['carried'];
}

export interface Shredding {
  readonly session: Pick<ToolSession, 'request' | 'idJob' | 'jobUuid' | 'byHand'>;
  readonly logical: StoredLogicalSchema;
  readonly sink: Pick<RowSink, 'encoding' | 'widensInPlace' | 'scalesDecimals' | 'allowNull'>;
  /** last keys in use, by table name */
  readonly keyOffsets: ReadonlyMap<string, number>;
}

const noExtras: readonly (string | null)[] = [];

/** `present`: asked for its values when a document begins. */
export function shreddingOf(
  { session, logical, sink, keyOffsets }: Shredding,
  names: NameTable,
  present: FileOfRows,
): ShredderOptions {
  const { request, idJob, jobUuid, byHand } = session;
  const extras = extrasOf(logical.model, request.extraColumns);
  for (const [table, column] of unfilledExtras(logical.model, extras)) sink.allowNull(table, column);
  return {
    model: logical.model,
    names,
    encoding: sink.encoding,
    idJob,
    jobUuid,
    keyOffsets,
    widensInPlace: sink.widensInPlace,
    scalesDecimals: sink.scalesDecimals,
    unmapped: request.unmapped,
    keepsOtherRoots: request.keepsOtherRoots && request.root === undefined,
    extraValues: () =>
      extras.length === 0
        ? noExtras
        : valuesOf(extras, {
            idJob,
            fileName: present.name,
            filePath: byHand ? present.path : present.name,
            carried: present.carried,
          }),
  };
}
