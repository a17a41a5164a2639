/** A document that is cut into ranges, each read apart, gives the rows of the whole, with the places of the whole. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStatisticsCollector } from '../../src/engine/infer/collector.ts';
import { inferSourceModel } from '../../src/engine/infer/source-model.ts';
import { defaultEngineLimits } from '../../src/engine/limits.ts';
import { createQuickCuts } from '../../src/engine/shred/row-tag/tag-reader.ts';
import { createRowCutFinder } from '../../src/engine/shred/row-tag/ranges.ts';
import { createShredder } from '../../src/engine/shred/shredder.ts';
import { createTokenizerKernels } from '../../src/engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../src/engine/xml/tokenizer/portable.ts';
import { KIND_MASK, KIND_START, RECORD_INTS } from '../../src/engine/xml/tokens.ts';
import { createDocumentCut, documentName } from '../../src/tools/load/document-cut.ts';
import { memberOfRange, rangesBetween } from '../../src/inputs/readable-ranges.ts';
import { readDocument } from '../../src/inputs/read-document.ts';
import { Choices, decisions } from './choices/random.ts';
import { bytesOf, documentOf, memberOf, rowTag } from './choices/row-documents.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { modelOf } from '../support/models/shredding.ts';
import type { RelationalModel } from '../../src/engine/model/relational-model.ts';
import type { DocumentRange, InputMember } from '../../src/inputs/members.ts';
import { uuidOfJob } from '../support/models/job-names.ts';

const limits = { ...defaultEngineLimits, xmlMaxEntityAmplification: 100 };

interface Found {
  /** rows as text, by table or side table */
  readonly rows: Record<string, string>;
  /** place, number and bytes of the row elements, and places of all that they hold */
  readonly places: string[];
  documents: number;
  outside: number;
  bytes: number;
}

async function read(
  member: InputMember,
  sha256: string,
  model: RelationalModel,
  kernelFrom: number,
): Promise<Found> {
  const names = createNameTable();
  const found: Found = { rows: {}, places: [], documents: 0, outside: 0, bytes: 0 };
  const shredder = createShredder({
    model,
    names,
    encoding: 'copy-text',
    idJob: 1,
    jobUuid: uuidOfJob(1),
    keyOffsets: new Map(),
    widensInPlace: true,
    unmapped: 'capture',
    extraValues: () => [],
    kernelFrom,
  });
  let hash = '';
  const cut = createDocumentCut(rowTag, names, {
    begin(file, number, inherited) {
      found.places.push(`${documentName(file, number)} ${[...(inherited ?? [])].join()}`);
      hash = createHash('sha256').update(`${sha256}#${number}`).digest('hex');
      shredder.beginDocument(documentName(file, number), hash, inherited);
    },
    consume(batch, locate) {
      for (let at = 0; at < batch.count; at += 1) {
        if ((batch.events[at * RECORD_INTS]! & KIND_MASK) !== KIND_START) continue;
        const { line, column, offset } = locate(at);
        found.places.push(`${line}:${column} ${offset}`);
      }
      shredder.consume(batch, locate);
    },
    end(bytes) {
      found.places.push(`${bytes} bytes`);
      shredder.endDocument({ sha256: hash, bytes, loadedAt: '2026-01-01T00:00:00Z' });
    },
  });
  cut.beginFile(member.name, member.range);
  const facts = await readDocument(member, {
    names,
    limits,
    kernels: shredder.tokenizerKernels(),
    onBatch: (batch, locate) => cut.consume(batch, locate),
    afterChunk: () => undefined,
  });
  cut.endFile(facts.bytes);
  shredder.output.flush();
  for (const { table, bytes } of shredder.output.chunks)
    found.rows[table] = (found.rows[table] ?? '') + new TextDecoder().decode(bytes);
  for (const unconverted of shredder.unconvertedValues) found.places.push(JSON.stringify(unconverted));
  return { ...found, documents: cut.count, outside: cut.outside, bytes: facts.bytes };
}

async function rangesOf(
  member: InputMember,
  sha256: string,
  windowBytes: number,
  wanted: () => boolean,
): Promise<readonly DocumentRange[]> {
  const names = createNameTable();
  const finder = createRowCutFinder(rowTag, names);
  const tokenizer = createXmlTokenizer({
    names,
    limits,
    windowBytes,
    onBatch: (batch) => {
      if (wanted()) finder.request();
      finder.consume(batch, (record) => tokenizer.locate(record));
    },
  });
  for await (const chunk of member.chunks()) tokenizer.write(chunk);
  tokenizer.end();
  const { cuts, prologBytes } = finder;
  const facts = { cuts, prologBytes, bytes: tokenizer.bytesRead, sha256 };
  return (await rangesBetween(member.parts!, facts, 1)) ?? [];
}

/** Null: the document's tags alone do not tell. */
async function quickRangesOf(
  member: InputMember,
  sha256: string,
  rangeBytes: number,
): Promise<readonly DocumentRange[] | null> {
  const bytes: Uint8Array[] = [];
  for await (const chunk of member.chunks()) bytes.push(chunk);
  const text = Buffer.concat(bytes);
  const markBytes = text[0] === 0xef ? 3 : 0;
  const quick = createQuickCuts(rowTag, rangeBytes, markBytes)!;
  let left = markBytes;
  for (const chunk of bytes) {
    if (!quick.write(chunk.subarray(left))) return null;
    left = Math.max(0, left - chunk.length);
  }
  const found = quick.end();
  if (found === null) return null;
  return (await rangesBetween(member.parts!, { ...found, bytes: text.length, sha256 }, 1)) ?? [];
}

async function modelFor(member: InputMember): Promise<RelationalModel | null> {
  const names = createNameTable();
  const collector = createStatisticsCollector(names, { samples: true });
  const cut = createDocumentCut(rowTag, names, {
    begin: () => collector.beginDocument(),
    consume: (batch) => collector.consume(batch),
    end: (bytes) => collector.endDocument(bytes),
  });
  cut.beginFile(member.name);
  const kernels = createTokenizerKernels();
  const onBatch = cut.consume;
  await readDocument(member, { names, limits, kernels, onBatch, afterChunk: () => undefined });
  return cut.count === 0 ? null : modelOf(inferSourceModel(collector.statistics), 1);
}

describe('a document in ranges', { timeout: propertyTimeoutMs }, () => {
  it('gives the rows, names and places of the whole', async () => {
    let cutInto = 0;
    let cutQuickly = 0;
    await holds(
      fc.tuple(decisions(300), decisions(100)),
      async ([ofDocument, ofCuts]) => {
        const choices = new Choices(ofCuts);
        const bytes = bytesOf(documentOf(new Choices(ofDocument)));
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const member = memberOf(bytes, choices.between(1, 5000));
        const model = await modelFor(member);
        if (model === null) return;
        const kernelFrom = choices.pick([Infinity, 0]);
        const whole = await read(member, sha256, model, kernelFrom);
        const quick = choices.chance(50)
          ? await quickRangesOf(member, sha256, choices.between(1, 300))
          : null;
        const ranges =
          quick ?? (await rangesOf(member, sha256, choices.between(16, 200), () => choices.chance(60)));
        cutInto += ranges.length;
        cutQuickly += quick?.length ?? 0;
        if (ranges.length === 0) return;
        const sum: Found = { rows: {}, places: [], documents: 0, outside: 0, bytes: 0 };
        for (const range of ranges) {
          const part = await read(memberOfRange(member, range), sha256, model, kernelFrom);
          for (const [table, rows] of Object.entries(part.rows))
            sum.rows[table] = (sum.rows[table] ?? '') + rows;
          sum.places.push(...part.places);
          sum.documents += part.documents;
          sum.outside += part.outside;
          sum.bytes += part.bytes;
        }
        expect(sum).toEqual(whole);
      },
      { runs: 200 },
    );
    expect(cutInto).toBeGreaterThan(50);
    expect(cutQuickly).toBeGreaterThan(50);
  });
});
