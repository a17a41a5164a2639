/** What stands around parts of a larger document (`--row-tag`) holds for each: namespaces that content uses, and xml:space. */
import { describe, expect, it } from 'vitest';
import { inferred, modelOf } from '../../../support/models/shredding.ts';
import { shredPartsToBytes, type ShreddingWay } from '../../../support/models/shredded-bytes.ts';

const rows = 300;
const document = `<d xmlns:q="urn:q" xmlns:p="urn:p" xml:space="preserve"> ${'<row> <a>q:x</a> </row>\n<row><a>plain</a></row>'.repeat(rows)}<g xml:space="default"><row> <a>y</a></row></g><row xml:space="default"> <a xmlns:q="urn:r">q:z</a></row></d>`;
const model = modelOf(inferred(['<row xml:space="x"><a>text</a></row>']), 3);

function partsBy(way: Pick<ShreddingWay, 'kernelFrom' | 'hashes'>, areTaken: boolean) {
  const found = shredPartsToBytes(
    model,
    document,
    'row',
    { encoding: 'copy-text', tokenizer: 'shared', ...way },
    areTaken,
  );
  return { ...found, taken: 0 };
}

describe('parts of a larger document', () => {
  it('keep the declarations that their content uses, and white space that is content', () => {
    const lines = partsBy({ kernelFrom: Infinity }, false).tables.get('unmapped')!.trim().split('\n');
    const kept = lines.map((line) => line.split('\t').slice(-3).join(' '));
    const counts = Map.groupBy(kept, (line) => line);
    expect(Object.fromEntries([...counts].map(([line, all]) => [line, all.length]))).toEqual({
      '/row text  ': 2 * rows,
      '/row/@xmlns:q attribute urn:q': rows,
      '/row/a/@xmlns:q attribute urn:r': 1,
    });
  });

  it.each([undefined, ['00'.repeat(32)]])('are the same by every way, with hashes %j', (hashes) => {
    const expected = partsBy({ kernelFrom: Infinity, ...(hashes && { hashes }) }, false);
    for (const kernelFrom of [0, Infinity])
      for (const areTaken of [true, false])
        expect(partsBy({ kernelFrom, ...(hashes && { hashes }) }, areTaken)).toEqual(expected);
  });
});
