/** GET /v2/schema/export_as: files, their names and types, and what is refused. */
import { describe, expect, it } from 'vitest';
import { exportFormats } from '../../../../src/engine/metadata/formats.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { readZip } from '../../../support/read-zip.ts';

const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="net"><xs:complexType><xs:sequence>
    <xs:element name="stop" maxOccurs="unbounded"><xs:complexType>
      <xs:attribute name="kind"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="bus"><xs:annotation><xs:documentation>It has wheels.</xs:documentation></xs:annotation></xs:enumeration></xs:restriction></xs:simpleType></xs:attribute>
      <xs:attribute name="code"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`);

async function createNet() {
  const app = await createTestApp();
  const { catalog } = app.adapters;
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg: 1,
    idParentSch: null,
    idJob: null,
    name: 'nét',
    sourceType: 'xsd',
    model: source,
    files: [],
  });
  const { idLschma } = await catalog.createLogicalSchema(1, idSch, modelOf(source, 1), null);
  return { ...app, catalog, idSch, idLschma, path: `/v2/schema/export_as/${idSch}` };
}

describe('GET /v2/schema/export_as', () => {
  it.each([
    ['dbt', 'application/zip', 'n_t-dbt.zip'],
    ['odcs', 'application/yaml', 'n_t.odcs.yaml'],
    ['mermaid', 'text/plain; charset=utf-8', 'n_t.mmd'],
    ['dbml', 'text/plain; charset=utf-8', 'n_t.dbml'],
    ['frictionless', 'application/json', 'n_t.datapackage.json'],
    ['jsonschema', 'text/plain; charset=utf-8', 'n_t.schema.json'],
    ['avro', 'text/plain; charset=utf-8', 'n_t.avsc'],
  ])('gives %s as %s', async (format, type, name) => {
    const { send, path } = await createNet();
    const answer = await send(`${path}?format=${format}`);
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, type]);
    expect(answer.headers.get('Content-Disposition')).toContain(`filename="${name}"`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const text =
      format === 'dbt' ? (await readZip(bytes)).get('models/sources.yml')! : new TextDecoder().decode(bytes);
    expect(text).toMatch(/\bstop\b/);
    if (format !== 'mermaid') expect(text).toMatch(/\bbus\b/);
  });

  it('gives JSON to who asks for it', async () => {
    const { send, path } = await createNet();
    for (const format of ['jsonschema', 'avro']) {
      const answer = await send(`${path}?format=${format}`, { headers: { Accept: 'application/json' } });
      expect(answer.headers.get('Content-Type')).toBe('application/json');
      expect(answer.headers.get('Vary')).toBe('Accept, Accept-Encoding');
      expect(await answer.json()).toBeTruthy();
    }
  });

  it('gives each of the two under its own media type, and refuses types of other formats', async () => {
    const { send, path } = await createNet();
    const typeOf = async (format: string, accept: string) =>
      (await send(`${path}?format=${format}`, { headers: { Accept: accept } })).headers.get('Content-Type');
    expect(await typeOf('jsonschema', 'application/schema+json')).toBe('application/schema+json');
    expect(await typeOf('avro', 'application/vnd.apache.avro+json')).toBe('application/vnd.apache.avro+json');
    expect(await typeOf('avro', 'application/schema+json')).toBe('application/problem+json');
    expect(await typeOf('dbml', 'application/json')).toBe('application/problem+json');
    expect(await typeOf('dbml', 'application/octet-stream')).toBe('application/octet-stream');
  });

  it('tells the formats where none of them is asked for, and hides what is not there', async () => {
    const { send, path, idLschma, newKey } = await createNet();
    for (const query of ['', '?format=excel', '?format=']) {
      const answer = await send(`${path}${query}`);
      expect([query, answer.status]).toEqual([query, 400]);
      const told = JSON.stringify(await answer.json());
      for (const format of exportFormats) expect(told).toContain(format);
    }
    expect((await send(`${path}?format=dbml&id_lschma=${idLschma}`)).status).toBe(200);
    expect((await send(`${path}?format=dbml&id_lschma=999`)).status).toBe(404);
    expect((await send('/v2/schema/export_as/999?format=dbml')).status).toBe(404);
    const { key } = await newKey(2, ['schemas:read']);
    expect((await send(`${path}?format=dbml`, { key })).status).toBe(404);
  });

  it('has the natural keys that people declared', async () => {
    const { send, path, catalog, idSch } = await createNet();
    await catalog.saveNaturalKeys(1, idSch, [
      { tableName: 'stop', columnName: 'kind', position: 1 },
      { tableName: 'stop', columnName: 'code', position: 2 },
    ]);
    const files = await readZip(new Uint8Array(await (await send(`${path}?format=dbt`)).arrayBuffer()));
    expect(files.get('tests/unique_stop_natural_key.sql')).toMatch(
      /'kind'[^]*'code'[^]*having count\(\*\) > 1/,
    );
  });

  it('is made one at a time for an organisation, and refused where too many wait', async () => {
    const { send, path, catalog } = await createNet();
    const gate = Promise.withResolvers<void>();
    const { loadOrigin } = catalog;
    let running = 0;
    Object.assign(catalog, {
      async loadOrigin(...which: Parameters<typeof loadOrigin>) {
        running += 1;
        await gate.promise;
        return loadOrigin.apply(catalog, which);
      },
    });
    const answers = Array.from({ length: 22 }, () => send(`${path}?format=avro`));
    const refused = await Promise.race(answers);
    expect([refused.status, refused.headers.has('Retry-After'), running]).toEqual([429, true, 1]);
    gate.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(21);
  });
});

describe('GET /v2/schema/ddl with codes', () => {
  it('has the values that the schema enumerates, and checks where they are asked for', async () => {
    const { send, idSch } = await createNet();
    const ddl = async (query: string): Promise<string> =>
      (await send(`/v2/schema/ddl/${idSch}?${query}`)).text();
    const row = `('/net/stop/@kind', 'bus', NULL, 'It has wheels.')`;
    expect(await ddl('')).toBe(await ddl('codes=none'));
    expect(await ddl('codes=none')).not.toContain('_codes');
    expect(await ddl('codes=table')).toContain(row);
    expect(await ddl('codes=table')).not.toContain('CHECK');
    expect(await ddl('codes=check')).toMatch(/CHECK \("kind" IN \('bus'.*\)\) NOT VALID;/);
    expect(await ddl('codes=check&dialect=snowflake')).toContain(
      'CHECK constraints for codes are written only for PostgreSQL',
    );
    expect((await send(`/v2/schema/ddl/${idSch}?codes=all`)).status).toBe(400);
  });
});

describe('GET /v2/mapping/download as a workbook', () => {
  it('has sheets of mappings, tables and codes', async () => {
    const { send, idSch } = await createNet();
    const answer = await send(`/v2/mapping/download/${idSch}`);
    const parts = await readZip(new Uint8Array(await answer.arrayBuffer()));
    const names = [...parts.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)];
    expect(names.map(([, name]) => name)).toEqual(['mapping', 'tables', 'codes']);
    const texts = (sheet: number): (string | undefined)[] =>
      [...parts.get(`xl/worksheets/sheet${sheet}.xml`)!.matchAll(/<t [^>]*>([^<]*)</g)].map(
        ([, text]) => text,
      );
    expect(texts(2)).toEqual(expect.arrayContaining(['_documents', 'stop', '/net/stop', 'stop_key', 'net']));
    expect(texts(3).slice(6)).toEqual([
      'type',
      'label',
      'stop',
      'kind',
      'bus',
      'It has wheels.',
      '/net/stop/@kind',
      '',
      '/net/stop/@kind',
    ]);
  });
});
