/**
 * Decides which columns of dates with times show instants in a target: those that do so already, and new ones for whose values the
 * documents have time zones. Only the beginnings of documents are inspected, as far as that costs next to nothing. If a later value has
 * a part that its column does not keep, the value is also kept as written (`_lexical`).
 */
import { InputError } from '../../engine/diagnostics.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { placeOf, withKinds } from '../../engine/model/retyped-columns.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { hasZone } from '../../engine/model/zones.ts';
import { DateWalk, type ColumnPlace } from '../../engine/shred/date-walk.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { createTokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import type { RowSink, ZoneTable } from '../../ports/rows/sink.ts';
import type { InputSet } from '../inputs/list-files.ts';
import { walkDocument } from '../inputs/read-document.ts';
import { createDocumentCut } from './document-cut.ts';
import type { LoadOptions } from './row-loader.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** Limits for inspecting all documents together, and for one. */
const maxBytes = 4 * 2 ** 20;
const maxBytesOfOne = 2 ** 20;
const maxDocuments = 200;
/** number of dates in one document without new information, after which no more of it is inspected, and of all documents */
const maxKnownDates = 1000;
const maxKnownOfAll = 5000;

/** The model with the types that these columns have in this load. */
export async function withZonesMet(
  session: Pick<ToolSession, 'limits' | 'request'>,
  inputs: Pick<InputSet, 'members'>,
  model: RelationalModel,
  sink: Pick<RowSink, 'zonesThere'>,
  options: Pick<LoadOptions, 'rowTag' | 'rejects'>,
): Promise<RelationalModel> {
  const { saveMode } = session.request;
  const places = factsOf(model).openToZones;
  if (places.length === 0 || saveMode === 'write-schema' || saveMode === 'print-schema') return model;
  const met = await placesWithZones(session, inputs, model, places, options);
  const tables = Map.groupBy(places, ([table]) => table);
  const there = saveMode === 'overwrite' ? new Map() : await sink.zonesThere(questionsOf(model, tables, met));
  const zoned = new Map(met.keys().map((place) => [place, true]));
  for (const [table, own] of tables) {
    const kept: ReadonlyMap<string, boolean> | undefined = there.get(model.tables[table]!.name);
    if (kept === undefined) continue;
    for (const [, column] of own) {
      const isZoned = kept.get(model.tables[table]!.columns[column]!.name);
      if (isZoned !== undefined) zoned.set(placeOf(table, column), isZoned);
    }
  }
  return withKinds(model, zoned, (isZoned) => (isZoned ? 'timestamptz' : 'timestamp'));
}

function questionsOf(
  model: RelationalModel,
  places: ReadonlyMap<number, readonly ColumnPlace[]>,
  met: ReadonlySet<string>,
): ZoneTable[] {
  return [...places].map(([table, own]) => ({
    name: model.tables[table]!.name,
    columns: () =>
      own.map(([, column]) => ({
        name: model.tables[table]!.columns[column]!.name,
        zoned: met.has(placeOf(table, column)),
      })),
  }));
}

/** Stops the reading of a document. */
class Enough extends Error {}

/** Returns the columns of `places` in which a value with a time zone was found. */
async function placesWithZones(
  { limits }: Pick<ToolSession, 'limits'>,
  inputs: Pick<InputSet, 'members'>,
  model: RelationalModel,
  places: readonly ColumnPlace[],
  { rowTag, rejects }: Pick<LoadOptions, 'rowTag' | 'rejects'>,
): Promise<ReadonlySet<string>> {
  const met = new Set<string>();
  const seen = new Set<string>();
  const names = createNameTable();
  let knownDates = 0;
  let knownOfAll = 0;
  const walk = new DateWalk(model, names, places, ([table, column], text) => {
    const place = placeOf(table, column);
    const before = seen.size + met.size;
    seen.add(place);
    if (hasZone(text)) met.add(place);
    const isNew = seen.size + met.size > before;
    knownDates = isNew ? 0 : knownDates + 1;
    knownOfAll = isNew ? 0 : knownOfAll + 1;
  });
  const cut = createDocumentCut(rowTag, names, {
    begin: (_file, _number, inherited) => walk.beginDocument(inherited),
    consume: (batch, _locate, first) => {
      walk.consume(batch, first);
      if (walk.isOther) throw new Enough();
    },
    end: () => undefined,
  });
  const kernels = createTokenizerKernels();
  let bytes = 0;
  let inputIndex = -1;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    if (inputIndex >= maxDocuments || bytes >= maxBytes || knownOfAll >= maxKnownOfAll) break;
    // further documents cannot add anything
    if (met.size === places.length) break;
    if (rejects.has(inputIndex)) continue;
    cut.beginFile(member.name, member.range);
    knownDates = 0;
    try {
      await walkDocument(member, {
        names,
        limits,
        kernels,
        onBatch: (batch, locate) => cut.consume(batch, locate),
        afterChunk: (size, read) => {
          bytes += size;
          const isEnough = read >= maxBytesOfOne || bytes >= maxBytes || knownDates >= maxKnownDates;
          if (isEnough || met.size === places.length) throw new Enough();
        },
      });
    } catch (error) {
      // the load reports faults of documents
      if (!(error instanceof Enough || error instanceof InputError)) throw error;
    }
  }
  return met;
}
