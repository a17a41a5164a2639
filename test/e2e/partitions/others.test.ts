/** Rows that other programs write into partitioned tables of Delta: their files lack the columns of the partition, whose values the log has. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { deltalakeReader, runDeltalake } from '../../contracts/targets/readers/deltalake.ts';
import { needs } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="day"><xs:complexType><xs:sequence>
    <xs:element name="trade" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="desk" type="xs:string" minOccurs="0"/>
      <xs:element name="lot" type="xs:int"/>
      <xs:element name="at" type="xs:dateTime"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

function dayOf(number: number): string {
  const trades = [1, 2, 3, 4].map((lot) => {
    const desk = lot === 4 ? '' : `<desk>it's 10% = "${lot % 2}"</desk>`;
    return `<trade>${desk}<lot>${lot}</lot><at>202${number}-0${lot}-02T10:00:00Z</at></trade>`;
  });
  return `<day>${trades.join('')}</day>`;
}

/** In the last document, a row more for lot 1 and for lot 4, and in both another desk for lot 2. */
const written = `
import sys
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
table = DeltaTable(sys.argv[1])
rows = table.to_pyarrow_table()
more = [{**row, "trade_key": 999 + row["lot"], "position": 10 + row["lot"], "lot": 10 + row["lot"]}
    for row in rows.to_pylist() if row["document_key"] == 2 and row["lot"] in (1, 4)]
write_deltalake(table, pa.Table.from_pylist(more, schema=rows.schema), mode="append")
DeltaTable(sys.argv[1]).update(predicate="lot = 2", updates={"desk": "'moved'"})
`;

describe('rows of others in partitioned tables of Delta', { timeout: 120_000, ...needs('deltalake') }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let folder: string;
  let origin: string;

  beforeAll(async () => {
    home = await trial.home();
    folder = await trial.folder('others-');
    await writeFile(join(folder, 'day.xsd'), xsd);
    origin = String((await convert(home, 'xsd2er', join(folder, 'day.xsd'))).origin);
    for (const number of [1, 2, 3]) await writeFile(join(folder, `${number}.xml`), dayOf(number));
  }, 120_000);

  it('are read back, go on in later jobs, and go with their documents', async () => {
    const out = join(folder, 'lake');
    const load = (names: readonly string[], ...more: string[]): ReturnType<typeof convert> =>
      convert(
        home,
        'xml2er',
        ...names.map((name) => join(folder, name)),
        '-x',
        origin,
        '-o',
        out,
        '-f',
        'delta',
        ...more,
      );
    const { logical } = await load(['1.xml', '2.xml'], '--partition', 'desk,month(at)');
    await runDeltalake(written, join(out, 'trade'));

    const rows = async (): Promise<(string | null | undefined)[][]> => {
      const found = ((await deltalakeReader(out).read('trade')) ?? []).map((row) =>
        ['trade_key', 'document_key', 'desk', 'lot', 'at_month'].map((name) => row[name]),
      );
      return found.toSorted((a, b) => Number(a[0]) - Number(b[0]));
    };
    const back = async (name: string): Promise<string> => {
      await convert(home, 'er2xml', '-i', out, '-o', join(folder, name));
      return readFile(join(folder, name, '2.xml'), 'utf8');
    };
    const first = await back('first');
    expect(first.match(/<lot>\d+/g)).toEqual([1, 2, 3, 4, 11, 14].map((lot) => `<lot>${lot}`));
    expect(first.match(/<desk>[^<]*/g)).toEqual(
      ['it\'s 10% = "1"', 'moved', 'it\'s 10% = "1"', 'it\'s 10% = "1"'].map((desk) => `<desk>${desk}`),
    );
    expect(await rows()).toHaveLength(10);

    await load(['3.xml']);
    const keys = (await rows()).map(([key]) => Number(key));
    expect(new Set(keys).size).toBe(14);
    expect(keys.filter((key) => key > 1003)).toHaveLength(4);
    await convert(home, 'unload', '-l', String(logical), '-i', out, '-D', '1.xml');
    const left = await rows();
    expect(left.filter(([, document]) => document === '1')).toEqual([]);
    expect(left).toHaveLength(10);
    for (const [, , , lot, month] of left) expect(month?.slice(5)).toBe(`0${Number(lot) % 10}`);
    expect(await back('second')).toBe(first);
    await writeFile(join(folder, '2.xml'), dayOf(5));
    await load(['2.xml'], '-S', 'm');
    expect(await rows()).toHaveLength(8);
    await load(['2.xml'], '-S', 'o');
    expect(await rows()).toHaveLength(4);
  });
});
