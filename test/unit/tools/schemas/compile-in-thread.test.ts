/** Compiling in a thread, within time and memory. */
import { describe, expect, it } from 'vitest';
import { XsdSetError } from '../../../../src/engine/xsd/report.ts';
import { compileInThread } from '../../../../src/tools/schemas/convert-xsd.ts';

const xsd = (content: string) => ({
  name: 'a.xsd',
  bytes: new TextEncoder().encode(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${content}</xs:schema>`,
  ),
});
const roomy = { timeMs: 60_000, memoryBytes: 1024 ** 3 };

describe('compiling apart', () => {
  it('answers the model, and the faults of a set with their places', async () => {
    const { model } = await compileInThread(
      { files: [xsd('<xs:element name="a" type="xs:int"/>')], options: {} },
      roomy,
    );
    expect(model.elements.map(({ name }) => name.localName)).toContain('a');
    const fault = await compileInThread(
      { files: [xsd('<xs:element name="a" type="nowhere"/>')], options: {} },
      roomy,
    ).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(XsdSetError);
    expect((fault as XsdSetError).diagnostic).toMatchObject({ file: 'a.xsd', line: 1 });
  });

  it('ends at its time', async () => {
    const elements = Array.from(
      { length: 20_000 },
      (_, at) =>
        `<xs:element name="e${at}"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int"/></xs:sequence></xs:complexType></xs:element>`,
    );
    await expect(
      compileInThread({ files: [xsd(elements.join(''))], options: {} }, { ...roomy, timeMs: 20 }),
    ).rejects.toMatchObject({ code: 'unprocessable_input', message: expect.stringContaining('0.02 s') });
  });

  it('ends at its memory', async () => {
    const elements = Array.from(
      { length: 60_000 },
      (_, at) =>
        `<xs:element name="e${at}"><xs:complexType><xs:sequence><xs:element name="x${at}" type="xs:int"/></xs:sequence></xs:complexType></xs:element>`,
    );
    await expect(
      compileInThread(
        { files: [xsd(elements.join(''))], options: {} },
        { ...roomy, memoryBytes: 16 * 1024 ** 2 },
      ),
    ).rejects.toMatchObject({ code: 'unprocessable_input', message: expect.stringContaining('memory') });
  });
});
