/** Values that a walk for dates finds: those that the shredder puts into the same columns, in the same order. */
import { describe, expect, it } from 'vitest';
import { placeOf, withKinds } from '../../../../src/engine/model/retyped-columns.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { DateWalk, type ColumnPlace } from '../../../../src/engine/shred/date-walk.ts';
import { createShredder } from '../../../../src/engine/shred/shredder.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import type { NameTable, TextLocation, TokenBatch } from '../../../../src/engine/xml/tokens.ts';
import { bytesOf, compiled, modelOf } from '../../../support/models/shredding.ts';
import { constructs } from '../unshred/constructs.ts';
import { uuidOfJob } from '../../../support/models/job-names.ts';

type OnBatch = (batch: TokenBatch, locate: (record: number) => TextLocation) => void;

/** All columns that values come into: what is told of these is told of dates among them. */
function valueColumns({ tables }: RelationalModel): ColumnPlace[] {
  return tables.flatMap(({ columns }, table) =>
    columns.flatMap(({ role }, column): ColumnPlace[] => (role === 'value' ? [[table, column]] : [])),
  );
}

function tokenise(document: string, names: NameTable, windowBytes: number, onBatch: OnBatch): void {
  const tokenizer = createXmlTokenizer({
    names,
    windowBytes,
    onBatch: (batch) => onBatch(batch, (record) => tokenizer.locate(record)),
  });
  tokenizer.write(bytesOf(document));
  tokenizer.end();
}

function byShredder(model: RelationalModel, document: string): string[] {
  const names = createNameTable();
  const asked = new Map(valueColumns(model).map(([table, column]) => [placeOf(table, column), null]));
  const shredder = createShredder({
    model: withKinds(model, asked, () => 'boolean'),
    names,
    encoding: 'csv',
    idJob: 0,
    jobUuid: uuidOfJob(0),
    keyOffsets: new Map(),
    widensInPlace: true,
    unmapped: 'capture',
    keepsOtherRoots: true,
    extraValues: () => [],
  });
  shredder.beginDocument('document');
  tokenise(document, names, 65_536, (batch, locate) => shredder.consume(batch, locate));
  return shredder.unconvertedValues.flatMap(({ table, column, text }) => {
    const place = placeOf(table, column);
    return asked.has(place) ? [`${place} ${text}`] : [];
  });
}

function byWalk(model: RelationalModel, document: string, windowBytes: number): string[] {
  const names = createNameTable();
  const found: string[] = [];
  const walk = new DateWalk(model, names, valueColumns(model), ([table, column], text) => {
    found.push(`${placeOf(table, column)} ${text}`);
  });
  walk.beginDocument();
  tokenise(document, names, windowBytes, (batch) => walk.consume(batch));
  return found;
}

describe('a walk for dates', () => {
  it.each(constructs)('finds what the shredder finds: $name', ({ xsd, documents }) => {
    const source = compiled(xsd);
    for (const level of [0, 1, 2, 3] as const) {
      const model = modelOf(source, level);
      for (const document of documents) {
        const expected = byShredder(model, document);
        expect(byWalk(model, document, 65_536)).toEqual(expected);
        expect(byWalk(model, document, 37)).toEqual(expected);
      }
    }
  });

  it('tells of a document whose root is another one', () => {
    const model = modelOf(
      compiled(
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="at" type="xs:dateTime"/></xs:schema>',
      ),
      3,
    );
    const names = createNameTable();
    const found: string[] = [];
    const walk = new DateWalk(model, names, valueColumns(model), (_, text) => found.push(text));
    for (const [document, isOther] of [
      ['<other><at>2024-05-01T08:00:00</at></other>', true],
      ['<at>2024-05-01T08:00:00Z</at>', false],
    ] as const) {
      walk.beginDocument();
      tokenise(document, names, 65_536, (batch) => walk.consume(batch));
      expect(walk.isOther).toBe(isOther);
    }
    expect(found).toEqual(['2024-05-01T08:00:00Z']);
  });
});
