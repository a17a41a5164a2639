/** Documents into PostgreSQL and back out of it, by the sink and the source that the tools use. */
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { MergeOrder, Published, RowSink, SinkPlan } from '../../../src/ports/row-sink.ts';
import type { RowSource } from '../../../src/ports/row-source.ts';
import { createShredder } from '../../../src/engine/shred/shredder.ts';
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import { writeDocuments } from './in-memory.ts';
import { hashOfLogical, uuidOfJob } from '../models/job-names.ts';

export interface PostgresLocation {
  readonly url: string;
  readonly sqlSchema: string;
}

/** Loads the documents as one job; they are called `NAME-1.xml` and so on. */
export async function loadIntoPostgres(
  place: PostgresLocation,
  model: RelationalModel,
  documents: readonly Uint8Array[],
  job: { readonly id: number; readonly name: string } = { id: 1, name: 'document' },
): Promise<void> {
  const sink = createPostgresRowSink({ ...place, createSchema: true });
  await loadInto(sink, { model, idJob: job.id }, documents, job.name);
}

/** The same into any target; the sink is closed at the end. `plan`: what differs from a load that appends. */
export async function loadInto(
  sink: RowSink,
  {
    model,
    idJob,
    idLschma = null,
    merge,
    ...more
  }: Pick<SinkPlan, 'model' | 'idJob'> & Partial<SinkPlan> & { readonly merge?: MergeOrder },
  documents: readonly Uint8Array[],
  name = 'document',
): Promise<Published> {
  try {
    await sink.open({
      model,
      saveMode: 'append',
      idJob,
      jobUuid: uuidOfJob(idJob),
      idSch: null,
      idLschma,
      modelHash: hashOfLogical(idLschma),
      allTables: false,
      keys: 'sequence',
      ...more,
    });
    const names = createNameTable();
    const shredder = createShredder({
      model,
      names,
      encoding: sink.encoding,
      idJob,
      jobUuid: uuidOfJob(idJob),
      keyOffsets: await sink.keyOffsets(),
      widensInPlace: sink.widensInPlace,
      scalesDecimals: sink.scalesDecimals,
      unmapped: 'capture',
      extraValues: () => [],
    });
    const drain = async (): Promise<void> => {
      for (const unconverted of shredder.unconvertedValues.splice(0)) await sink.unconverted(unconverted);
      for (const { table, column } of shredder.nullAllowed.splice(0)) sink.allowNull(table, column);
      for (const chunk of shredder.output.chunks.splice(0)) {
        if (typeof chunk.table === 'number') await sink.write(chunk.table, chunk.bytes, chunk.rowCount);
        else await sink.writeSide(chunk.table, chunk.bytes, chunk.rowCount);
      }
    };
    for (const [at, document] of documents.entries()) {
      shredder.beginDocument(`${name}-${at + 1}.xml`);
      const tokenizer = createXmlTokenizer({
        names,
        onBatch: (batch) => shredder.consume(batch, (record) => tokenizer.locate(record)),
      });
      tokenizer.write(document);
      tokenizer.end();
      shredder.endDocument({ sha256: 'x', bytes: document.length, loadedAt: '2026-01-01T00:00:00Z' });
      await drain();
    }
    shredder.output.flush();
    await drain();
    return await sink.publish(async () => true, shredder.lastKeys(), merge);
  } catch (error) {
    await sink.abort();
    throw error;
  } finally {
    await sink.close();
  }
}

/** All documents of the target in the order they were loaded, or one of them, found by its name alone. */
export function readFromPostgres(
  place: PostgresLocation,
  model: RelationalModel,
  name?: string,
): Promise<Uint8Array[]> {
  return readFrom(createPostgresRowSource(place), model, name);
}

/** The same out of any target; the source is closed at the end. */
export async function readFrom(
  source: RowSource,
  model: RelationalModel,
  name?: string,
): Promise<Uint8Array[]> {
  try {
    await source.open(model);
    const keys: string[] = [];
    for await (const document of source.documents(name)) keys.push(document.key);
    if (name === undefined) return await writeDocuments(model, await source.rowsFrom(null), keys);
    const written: Uint8Array[] = [];
    for (const key of keys) written.push(...(await writeDocuments(model, await source.rowsOf(key), [key])));
    return written;
  } finally {
    await source.close();
  }
}
