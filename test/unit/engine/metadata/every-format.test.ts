/** Two models as metadata for other tools, table by table and column by column: one of an XSD, one with names and texts that need quotes. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { dbtProject } from '../../../../src/engine/metadata/dbt.ts';
import { describeModel, type DescribedModel } from '../../../../src/engine/metadata/described.ts';
import { formatSpecifications, type ExportFormat } from '../../../../src/engine/metadata/formats.ts';
import type { ColumnType } from '../../../../src/engine/model/relational-model.ts';
import { bareTypeName } from '../../../../src/engine/sql/dialects/postgresql.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { libraryModel } from '../sql/library-model.ts';
import { readYaml } from './block-yaml.ts';

const note = 'It\'s "quoted", {{ jinja }} {% raw %} {# no #} \\ %% # : - yes\u{85}\u{2028}';
const codes = ["it's", 'yes', '{{ x }}', 'a"b', '\\', '', 'no: #'];
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="code"><xs:restriction base="xs:string"><xs:enumeration value="new"/><xs:enumeration value="old one"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="other"><xs:restriction base="xs:string"><xs:enumeration value="none"/></xs:restriction></xs:simpleType>
  <xs:element name="orders"><xs:complexType><xs:sequence>
    <xs:element name="order" maxOccurs="unbounded"><xs:annotation><xs:documentation>What a buyer wants.</xs:documentation></xs:annotation>
      <xs:complexType><xs:sequence>
        <xs:element name="placed" type="xs:date"/>
        <xs:element name="total"><xs:simpleType><xs:restriction base="xs:decimal"><xs:totalDigits value="9"/><xs:fractionDigits value="2"/></xs:restriction></xs:simpleType></xs:element>
        <xs:element name="rank" minOccurs="0"><xs:simpleType><xs:restriction base="xs:int"><xs:enumeration value="1"/><xs:enumeration value="2"/></xs:restriction></xs:simpleType></xs:element>
        <xs:element name="tags" minOccurs="0"><xs:simpleType><xs:list itemType="code"/></xs:simpleType></xs:element>
        <xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="sku" use="required"/></xs:complexType></xs:element>
      </xs:sequence>
      <xs:attribute name="state" use="required"><xs:annotation><xs:documentation>How far it is.</xs:documentation></xs:annotation>
        <xs:simpleType><xs:union memberTypes="code other"/></xs:simpleType></xs:attribute>
      <xs:attribute name="free"><xs:simpleType><xs:union memberTypes="code xs:string"/></xs:simpleType></xs:attribute>
      </xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;

const source = compiled(xsd);
const orders = await describeModel({ name: 'orders', version: 3 }, modelOf(source, 1), source);
const hostile: DescribedModel = {
  name: 'H {{ "x" }} \'é\'',
  version: 1,
  tables: (await describeModel({ name: '', version: 1 }, libraryModel, null)).tables.map((table) => ({
    ...table,
    description: note,
    documentation: note,
    columns: table.columns.map((column) => ({
      ...column,
      description: note,
      documentation: note,
      enumeration: ['title', 'select'].includes(column.name) ? codes : null,
      saidOfValues: new Map(codes.map((code) => [code, note])),
    })),
  })),
};
const models = [
  ['orders', orders],
  ['hostile', hostile],
] as const;

async function text(model: DescribedModel, format: ExportFormat): Promise<string> {
  const specification = formatSpecifications[format];
  if (specification.kind === 'files') throw new Error(`${format} is files`);
  return (await specification.make(model)).join('');
}

async function dbtFiles(model: DescribedModel): Promise<ReadonlyMap<string, string>> {
  const made = await dbtProject(model);
  return new Map(made.map(({ name, content }) => [name, content.join('')]));
}

/** What dbt makes of a text that may be an expression of a literal. */
function jinja(given: unknown): string {
  const [, literal] = /^\{\{ '(.*)' \}\}$/s.exec(String(given)) ?? [];
  if (literal === undefined) {
    expect(given).not.toMatch(/\{[{%#]/);
    return String(given);
  }
  return literal.replaceAll(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const unescaped = (name: string): string => name.replaceAll(/\\(.)/g, '$1');
const doubled = (name: string): string => name.replaceAll('"', '""');
const enumerable = (type: ColumnType): boolean => type.list !== true && type.kind === 'text';

describe('what a model is described by', () => {
  const order = orders.tables.find(({ name }) => name === 'order')!;
  const column = (name: string) => order.columns.find((one) => one.name === name)!;

  it('has values where the schema enumerates them, of unions and items of lists, too', () => {
    expect(order.columns.map(({ name, enumeration }) => [name, enumeration])).toEqual([
      ['order_key', null],
      ['document_key', null],
      ['orders_key', null],
      ['position', null],
      ['state', ['new', 'old one', 'none']],
      ['free', null],
      ['placed', null],
      ['total', null],
      ['rank', ['1', '2']],
      ['tags', ['new', 'old one']],
    ]);
  });

  it('has the path and the documentation of the schema', () => {
    expect(order).toMatchObject({ documentation: 'What a buyer wants.', primaryKey: ['order_key'] });
    expect(order.description).toBe('/orders/order: What a buyer wants.');
    expect(column('state').description).toBe('/orders/order/@state: How far it is.');
    expect(order.references).toEqual([
      { column: 'orders_key', parentTable: 'orders', parentColumn: 'orders_key', single: false },
    ]);
    expect(orders.tables[1]!.references[0]).toMatchObject({ parentTable: '_documents' });
  });
});

describe.each(models)('%s', (_, model) => {
  it('as JSON Schema', async () => {
    const schema = JSON.parse(await text(model, 'jsonschema')) as {
      $defs: Record<string, { properties: Record<string, Record<string, unknown>>; required: string[] }>;
    };
    const ajv = new Ajv2020({
      strict: true,
      allowUnionTypes: true,
      formats: { date: true, 'date-time': true },
    });
    ajv.compile(schema);
    expect(Object.keys(schema.$defs)).toEqual(model.tables.map(({ name }) => name));
    for (const { name, columns } of model.tables) {
      const { properties, required } = schema.$defs[name]!;
      expect(required).toEqual(columns.flatMap((one) => (one.nullable ? [] : [one.name])));
      expect(Object.keys(properties)).toEqual(columns.map((one) => one.name));
      for (const { name: at, type, nullable, enumeration, description } of columns) {
        const types = [properties[at]!['type']].flat();
        expect(types.includes('null')).toBe(nullable);
        expect(types.includes('array')).toBe(type.list === true);
        expect(properties[at]).toMatchObject({ description });
        if (enumeration !== null && enumerable(type))
          expect(properties[at]!['enum']).toEqual([...enumeration, ...(nullable ? [null] : [])]);
      }
    }
  });

  it('as Avro', async () => {
    const records = JSON.parse(await text(model, 'avro')) as {
      type: string;
      name: string;
      table?: string;
      fields: { name: string; column?: string; type: unknown; doc: string; default?: null }[];
    }[];
    expect(records.map(({ name, table }) => table ?? name)).toEqual(model.tables.map(({ name }) => name));
    for (const [index, { name, fields }] of records.entries()) {
      const { columns } = model.tables[index]!;
      for (const one of [name, ...fields.map((field) => field.name)]) expect(one).toMatch(/^[A-Za-z_]\w*$/);
      expect(new Set(fields.map((field) => field.name)).size).toBe(columns.length);
      expect(fields.map((field) => field.column ?? field.name)).toEqual(columns.map((one) => one.name));
      expect(fields.map((field) => [field.doc, Array.isArray(field.type)])).toEqual(
        columns.map(({ description, nullable }) => [description, nullable]),
      );
    }
  });

  it('as a Data Package', async () => {
    const { resources } = JSON.parse(await text(model, 'frictionless')) as {
      resources: {
        name: string;
        title: string;
        path: string;
        schema: {
          fields: {
            name: string;
            description: string;
            constraints?: { required?: boolean; enum?: string[] };
          }[];
          primaryKey: string[];
          foreignKeys?: { fields: string[]; reference: { resource: string; fields: string[] } }[];
        };
      }[];
    };
    expect(resources.map(({ title }) => title)).toEqual(model.tables.map(({ name }) => name));
    const names = new Map(resources.map(({ title, name }) => [title, name]));
    for (const [index, { name, path, schema }] of resources.entries()) {
      const table = model.tables[index]!;
      expect(name).toMatch(/^[a-z0-9._-]+$/);
      expect(path).toMatch(/^[\p{L}\p{N}%_-]+\.csv$/u);
      expect(schema.primaryKey).toEqual(table.primaryKey);
      expect(
        schema.fields.map((one) => [one.name, one.description, one.constraints?.required ?? false]),
      ).toEqual(table.columns.map((one) => [one.name, one.description, !one.nullable]));
      expect(schema.fields.map(({ constraints }) => constraints?.enum ?? null)).toEqual(
        table.columns.map(({ type, enumeration }) => (enumerable(type) ? enumeration : null)),
      );
      expect(schema.foreignKeys ?? []).toEqual(
        table.references.map(({ column, parentTable, parentColumn }) => ({
          fields: [column],
          reference: {
            resource: parentTable === table.name ? '' : names.get(parentTable),
            fields: [parentColumn],
          },
        })),
      );
    }
  });

  it('as an Open Data Contract', async () => {
    const { schema, ...head } = readYaml(await text(model, 'odcs')) as {
      schema: { id: string; name: string; description: string; properties: Record<string, unknown>[] }[];
    };
    expect(head).toMatchObject({
      apiVersion: 'v3.1.0',
      kind: 'DataContract',
      name: model.name,
      status: 'active',
    });
    expect(schema.map(({ name }) => name)).toEqual(model.tables.map(({ name }) => name));
    const ids = new Map(schema.map(({ id, name }) => [name, id]));
    for (const [index, { properties, description }] of schema.entries()) {
      const table = model.tables[index]!;
      expect(description).toBe(table.description);
      expect(properties.map((one) => [one['name'], one['description'], one['required']])).toEqual(
        table.columns.map((one) => [one.name, one.description, !one.nullable]),
      );
      for (const property of properties) expect(property['id']).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(properties.filter((one) => one['primaryKey'] === true).map((one) => one['name'])).toEqual(
        table.primaryKey,
      );
      expect(properties.flatMap((one) => one['relationships'] ?? [])).toEqual(
        table.references.map(({ parentTable, parentColumn }) => ({
          type: 'foreignKey',
          to: /^\w+$/.test(parentTable)
            ? `${parentTable}.${parentColumn}`
            : `schema/${ids.get(parentTable)}/properties/${parentColumn}`,
        })),
      );
      expect(properties.map((one) => one['quality'] ?? null)).toEqual(
        table.columns.map(({ type, enumeration }) =>
          enumeration === null || type.list === true
            ? null
            : [{ metric: 'invalidValues', arguments: { validValues: enumeration }, mustBe: 0 }],
        ),
      );
    }
  });

  it('as Mermaid', async () => {
    const lines = (await text(model, 'mermaid')).split('\n');
    const body = lines.slice(lines.indexOf('erDiagram') + 1);
    const boxes = body.filter((line) => line.endsWith(' {'));
    expect(boxes).toHaveLength(model.tables.length);
    for (const box of boxes) expect(box).toMatch(/^ {2}"[^"%\\\p{Cc}]+" \{$/u);
    const attributes = body.filter((line) => line.startsWith('    '));
    expect(attributes).toHaveLength(model.tables.reduce((sum, { columns }) => sum + columns.length, 0));
    for (const attribute of attributes)
      expect(attribute).toMatch(
        /^ {4}[a-z]+(?:\([\d,]+\))?(?:\[\])? (?!(?:PK|FK|UK)\b)[A-Za-z_]\w*(?: (?:PK|FK|UK)(?:, (?:FK|UK))*)?(?: "[^"]*")?$/i,
      );
    const relations = body.filter((line) => line.includes('--'));
    expect(relations).toHaveLength(model.tables.reduce((sum, { references }) => sum + references.length, 0));
    expect(body.join('\n')).not.toMatch(/%%|[\u{85}\u{2028}]/u);
  });

  it('as DBML', async () => {
    const written = await text(model, 'dbml');
    const quoted = '"((?:[^"\\\\]|\\\\.)*)"';
    const tables = [...written.matchAll(new RegExp(`^Table ${quoted} \\{\\n([^]*?)\\n\\}$`, 'gm'))];
    expect(tables.map(([, name]) => unescaped(name!))).toEqual(model.tables.map(({ name }) => name));
    for (const [index, [, , body]] of tables.entries()) {
      const { columns, primaryKey } = model.tables[index]!;
      const fields = [...body!.matchAll(new RegExp(`^  ${quoted} ${quoted} \\[([^\\n]*)\\]$`, 'gm'))];
      expect(fields.map(([, name]) => unescaped(name!))).toEqual(columns.map(({ name }) => name));
      for (const [at, [, name, , settings]] of fields.entries()) {
        expect(settings!.includes('not null')).toBe(!columns[at]!.nullable);
        expect(/\bpk\b/.test(settings!)).toBe(primaryKey.includes(unescaped(name!)));
      }
    }
    const references = [
      ...written.matchAll(new RegExp(`^Ref: ${quoted}\\.${quoted} [->] ${quoted}\\.${quoted}$`, 'gm')),
    ];
    expect(references.map((match) => match.slice(1, 5).map(unescaped))).toEqual(
      model.tables.flatMap(({ name, references: own }) =>
        own.map(({ column, parentTable, parentColumn }) => [name, column, parentTable, parentColumn]),
      ),
    );
  });

  it('as a dbt project', async () => {
    const files = await dbtFiles(model);
    const project = readYaml(files.get('dbt_project.yml')!) as { name: string; profile: string };
    expect(project.name).toMatch(/^[a-z_]\w*$/);
    expect(Object.keys(readYaml(files.get('profiles.yml')!) as object)).toEqual([project.profile]);
    const { sources } = readYaml(files.get('models/sources.yml')!) as {
      sources: {
        name: string;
        tables: {
          name: string;
          identifier?: string;
          description: string;
          columns: { name: string; data_type: string; description: string; data_tests?: unknown[] }[];
        }[];
      }[];
    };
    const [only] = sources;
    expect(only!.tables.map(({ name, identifier }) => jinja(identifier ?? name))).toEqual(
      model.tables.map(({ name }) => doubled(name)),
    );
    for (const [index, { columns, description }] of only!.tables.entries()) {
      const table = model.tables[index]!;
      expect(jinja(description)).toBe(table.description);
      expect(columns.map((one) => [jinja(one.name), jinja(one.description), one.data_type])).toEqual(
        table.columns.map((one) => [doubled(one.name), one.description, bareTypeName(one.type)]),
      );
      for (const [at, { data_tests: tests = [] }] of columns.entries()) {
        const { name, nullable, enumeration, type } = table.columns[at]!;
        const kinds = tests.map((test) => (typeof test === 'string' ? test : Object.keys(test as object)[0]));
        const isUnique = [table.primaryKey, ...table.uniqueKeys.map((key) => key.columns)].some(
          (key) => key.length === 1 && key[0] === name,
        );
        expect(kinds).toEqual([
          ...(isUnique ? ['unique'] : []),
          ...(nullable ? [] : ['not_null']),
          ...table.references.filter(({ column }) => column === name).map(() => 'relationships'),
          ...(enumeration !== null && type.list !== true ? ['accepted_values'] : []),
        ]);
        const accepted = tests.find((test) => Object.hasOwn(Object(test), 'accepted_values')) as
          | { accepted_values: { arguments: { values: string[]; quote?: boolean } } }
          | undefined;
        if (accepted === undefined) continue;
        const { values, quote = true } = accepted.accepted_values.arguments;
        expect(values.map((value) => jinja(value))).toEqual(
          enumeration!.map((value) => (quote ? value.replaceAll("'", "''") : value)),
        );
      }
    }
    const staging = [...files.keys()].filter((name) => name.startsWith('models/staging/'));
    expect(staging).toHaveLength(model.tables.length);
    for (const name of staging) expect(name).toMatch(/\/stg_\w{1,59}\.sql$/);
    const composite = model.tables.flatMap(({ uniqueKeys }) =>
      uniqueKeys.filter(({ columns }) => columns.length > 1),
    );
    expect([...files.keys()].filter((name) => name.startsWith('tests/'))).toHaveLength(composite.length);
  });
});
