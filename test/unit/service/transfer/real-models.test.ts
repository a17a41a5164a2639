/** What the compiler and the inference make passes the checks of an import: a model that cannot come back could not be moved. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import type { MapLevel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { checkRelationalModel, checkSourceModel } from '../../../../src/service/transfer/model-shapes.ts';
import { corpusGroups, groupSource } from '../../../support/round-trip/corpus.ts';
import { compiled, inferred } from '../../../support/models/shredding.ts';
import { unusualDocuments } from '../../../support/documents/unusual.ts';
import { some } from '../../../support/needs.ts';

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** As they are written and read again. */
function expectToPass(source: SourceModel, mapLevels: readonly MapLevel[] = [0, 1, 2, 3]): void {
  checkSourceModel(copy(source), 'source');
  for (const mapLevel of mapLevels) {
    const model = buildRelationalModel(source, { mapLevel });
    expect(model.tables.length).toBeGreaterThan(0);
    checkRelationalModel(copy(model), `level ${mapLevel}`);
  }
}

const builtIns =
  'string normalizedString token language NMTOKEN Name NCName ID IDREF ENTITY NMTOKENS IDREFS ENTITIES boolean decimal integer ' +
  'nonPositiveInteger negativeInteger nonNegativeInteger positiveInteger long int short byte unsignedLong unsignedInt unsignedShort ' +
  'unsignedByte float double duration dateTime time date gYearMonth gYear gMonthDay gDay gMonth hexBinary base64Binary anyURI QName ' +
  'anySimpleType';

describe('a model that was made here', () => {
  it('of every built-in type passes', () => {
    const children = builtIns
      .split(' ')
      .map((type) => `<xs:element name="of-${type}" type="xs:${type}" minOccurs="0"/>`);
    expectToPass(
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="all"><xs:complexType><xs:sequence>
        ${children.join('\n')}</xs:sequence></xs:complexType></xs:element></xs:schema>`),
    );
  });

  it.each(unusualDocuments.map((one) => [one.name, one] as const))(
    'of %s passes',
    (_, { xsd, documents }) => {
      expectToPass(xsd === null ? inferred(Object.values(documents)) : compiled(xsd));
    },
  );

  // of each corpus the XSD that its manifest names first
  const groups = [...Map.groupBy(corpusGroups(), ({ corpus }) => corpus).values()].map(([first]) => first!);
  it.each(some(groups, 3).map((group) => [group.corpus, group] as const))(
    'of the corpus %s passes',
    (_, group) => {
      expectToPass(groupSource(group).source, [3]);
    },
  );
});
