/** Attributes that a wildcard allows lie in one column, a line each, whatever the rows are encoded as. */
import { describe, expect, it } from 'vitest';
import { createShredder } from '../../../../src/engine/shred/shredder.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { uuidOfJob } from '../../../support/models/job-names.ts';

const model = modelOf(
  compiled(
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:attribute name="k" type="xs:string"/><xs:anyAttribute processContents="lax"/></xs:complexType></xs:element></xs:schema>',
  ),
  1,
);

function rowOf(encoding: 'csv' | 'copy-text', document: string): string {
  const names = createNameTable();
  const shredder = createShredder({
    model,
    names,
    encoding,
    idJob: 1,
    jobUuid: uuidOfJob(1),
    keyOffsets: new Map(),
    widensInPlace: true,
    unmapped: 'capture',
    extraValues: () => [],
  });
  shredder.beginDocument('d.xml');
  const tokenizer = createXmlTokenizer({
    names,
    onBatch: (batch) => shredder.consume(batch, (record) => tokenizer.locate(record)),
  });
  tokenizer.write(new TextEncoder().encode(document));
  tokenizer.end();
  shredder.endDocument({ sha256: 'x', bytes: document.length, loadedAt: '2026-01-01T00:00:00Z' });
  shredder.output.flush();
  const [chunk] = shredder.output.chunks.filter(({ table }) => table === 0);
  return new TextDecoder().decode(chunk!.bytes);
}

describe('several attributes of a wildcard', () => {
  const document = '<r k="1" xmlns:z="urn:z" z:a="one" z:b=\'two "2"\' z:c="three, 3"/>';

  it('are one field of CSV', () => {
    expect(rowOf('csv', document)).toContain(
      '1,"{urn:z}a=""one""\n{urn:z}b=""two &quot;2&quot;""\n{urn:z}c=""three, 3"""\n',
    );
    expect(rowOf('csv', '<r k="1" xmlns:z="urn:z" z:a="one"/>')).toContain('1,"{urn:z}a=""one"""\n');
  });

  it('are one field of COPY', () => {
    expect(rowOf('copy-text', document)).toContain(
      '1\t{urn:z}a="one"\\n{urn:z}b="two &quot;2&quot;"\\n{urn:z}c="three, 3"\n',
    );
  });
});
