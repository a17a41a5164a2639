/** Keys and references that an XSD declares, as the integration catalogue and the DDL show them. */
import { describe, expect, it } from 'vitest';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { KeysResponse } from '../../../../src/http/routes/cil.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="net"><xs:complexType><xs:sequence>
    <xs:element name="stop" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id" use="required"/><xs:attribute name="version" type="xs:int" use="required"/><xs:attribute name="code"/></xs:complexType></xs:element>
    <xs:element name="link" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="from"><xs:complexType><xs:attribute name="ref"/><xs:attribute name="version" type="xs:int"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType>
    <xs:unique name="stopCode"><xs:selector xpath="stop"/><xs:field xpath="@code"/></xs:unique>
    <xs:key name="stopKey"><xs:selector xpath="stop"/><xs:field xpath="@id"/><xs:field xpath="@version"/></xs:key>
    <xs:keyref name="fromStop" refer="stopKey"><xs:selector xpath="link/from"/><xs:field xpath="@ref"/><xs:field xpath="@version"/></xs:keyref>
  </xs:element></xs:schema>`;
const source = compiled(xsd);
const model = modelOf(source, 3);

describe('declared keys', () => {
  it('are natural keys and references of the feed, until people declare others', async () => {
    const { adapters, send } = await createTestApp();
    const { id_sch } = await adapters.catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'net',
      sourceType: 'xsd',
      model: source,
      files: [],
    });
    await adapters.catalog.createLogicalSchema(1, id_sch, model, null);
    const keys = async (): Promise<unknown[]> => {
      const answer = await send('/v2/extensions/cil/keys/net/0');
      return KeysResponse.parse(await answer.json())
        .content.filter(({ column_name }) => !column_name.endsWith('_key'))
        .map((key) => [key.table_name, key.column_name, key.key_type, key.references, key.position]);
    };
    expect(await keys()).toEqual([
      ['stop', 'id', 'NK', null, 1],
      ['stop', 'version', 'NK', null, 2],
      ['link', 'from_ref', 'FK', 'stop.id', 1],
      ['link', 'from_version', 'FK', 'stop.version', 2],
    ]);
    await send('/v2/extensions/cil/keys/update', {
      method: 'POST',
      body: JSON.stringify({
        cfxml: 'net',
        keys: [{ table_name: 'stop', column_name: 'code', key_type: 'NK' }],
      }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect((await keys()).slice(0, 1)).toEqual([['stop', 'code', 'NK', null, 1]]);
  });

  it('are told in the DDL, and not enforced', () => {
    const ddl = renderDdl(model);
    expect(ddl).toContain(
      `COMMENT ON TABLE "stop" IS '/net/stop; unique stopCode: (code), within net; natural key stopKey: (id, version), within net'`,
    );
    expect(ddl).toContain('reference fromStop: (from_ref, from_version) to stop (id, version), within net');
    expect(ddl).not.toContain('UNIQUE');
  });

  it('are told which types people may declare', async () => {
    const { send } = await createTestApp();
    const answer = await send('/v2/extensions/cil/keys/update', {
      method: 'POST',
      body: JSON.stringify({
        cfxml: 'net',
        keys: [{ table_name: 'stop', column_name: 'code', key_type: 'PK' }],
      }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(await answer.json()).toMatchObject({ detail: '/keys/0/key_type must be "NK" or null' });
  });
});
