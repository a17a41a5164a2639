/** `-R`: which value fills which extra column, also of a logical schema that was drawn for other ones. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { parseExtraColumn } from '../../../../src/service/jobs/option-table.ts';
import { requestDefaults } from '../../../../src/service/jobs/request/tool-request.ts';
import type { ExtraColumn } from '../../../../src/service/jobs/request/shape.ts';
import {
  extrasOf,
  momentOf,
  requireExtras,
  unfilledExtras,
} from '../../../../src/tools/schemas/extra-values.ts';
import { compiled } from '../../../support/models/shredding.ts';

const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="r"><xs:complexType><xs:sequence>
    <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:attribute name="k" type="xs:string"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`);

function modelWith(extras: readonly ExtraColumn[], previous?: RelationalModel): RelationalModel {
  const extraColumns = extras.map(({ name, type }) => ({ name, type: { kind: type } }));
  return buildRelationalModel(source, {
    mapLevel: 1,
    extraColumns,
    ...(previous === undefined ? {} : { previous }),
  });
}

const count: ExtraColumn = { name: 'count', type: 'integer', kind: 'value', value: '7' };
const file: ExtraColumn = { name: 'file', type: 'text', kind: 'filename' };
const key: ExtraColumn = { name: 'k', type: 'text', kind: 'filepath' };

function namesOf(model: RelationalModel): string[][] {
  return model.tables.map(({ columns }) =>
    columns.filter(({ role }) => role === 'extra').map(({ name }) => name),
  );
}

describe('extra columns', () => {
  it('are called as this request calls them, whatever an earlier model had', () => {
    const before = modelWith([count]);
    expect(namesOf(modelWith([file], before))).toEqual([['file'], ['file']]);
  });

  it('are filled by name, in whatever order they are given', () => {
    expect(extrasOf(modelWith([count, file]), [file, count])).toEqual([count, file]);
    expect(extrasOf(modelWith([count, file]), [file])).toEqual([null, file]);
  });

  it('are filled by place where a name had to make way', () => {
    const model = modelWith([key]);
    expect(namesOf(model)).toEqual([['k'], ['k_2']]);
    expect(extrasOf(model, [key])).toEqual([key]);
  });

  it('that the request leaves out stay empty', () => {
    const model = modelWith([count, file]);
    const extras = extrasOf(model, [file]);
    const unfilled = unfilledExtras(model, extras).map(
      ([table, at]) => model.tables[table]!.columns[at]!.name,
    );
    expect(unfilled).toEqual(['count', 'count']);
  });

  it('that a logical schema does not have are refused, with those that it has', () => {
    expect(() => requireExtras(modelWith([count]), [file])).toThrow(
      /-R file: no such extra column .*it has count/,
    );
    expect(() => requireExtras(modelWith([count]), [count])).not.toThrow();
  });

  it('hold the moment in the form of their type', () => {
    const moment = new Date('2026-03-04T05:06:07.089Z');
    expect(
      (['timestamptz', 'timestamp', 'date', 'time', 'text'] as const).map((type) => momentOf(type, moment)),
    ).toEqual([
      '2026-03-04T05:06:07.089Z',
      '2026-03-04T05:06:07.089',
      '2026-03-04',
      '05:06:07.089',
      '2026-03-04T05:06:07.089Z',
    ]);
  });

  it.each([
    ['k:int =seven', 'seven is not a value of type int'],
    ['k:smallint =40000', '40000 is not a value of type smallint'],
    ['k:date =tomorrow', 'tomorrow is not a value of type date'],
    ['k:bool =', ' is not a value of type bool'],
    ['k:int =7', null],
    ['k:date =2026-03-04', null],
    ['k:decimal =12.50', null],
    ['k =', null],
  ])('%s', (text, fault) => {
    expect(parseExtraColumn.apply({ ...requestDefaults, tool: 'xml2er' }, text)).toBe(fault);
  });
});
