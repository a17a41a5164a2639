/** Packages whose hashes are right and whose content is not: each is refused before anything is stored, and told why. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { checkPackage } from '../../../../src/service/transfer/package-import.ts';
import { manifestName, partNames, writeManifest } from '../../../../src/service/transfer/package-format.ts';
import type { PackageFolder, PartDigest } from '../../../../src/ports/files.ts';
import { compiled, statisticsOf } from '../../../support/models/shredding.ts';

const source =
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="order"><xs:complexType><xs:sequence>
  <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:attribute name="no" type="xs:int" use="required"/></xs:complexType>
  </xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`);
const model = buildRelationalModel(source, { mapLevel: 3 });
const statistics = statisticsOf(['<order><line no="1"/><line no="2"/></order>']);
const moment = '2026-01-02T03:04:05.000006Z';
const hash = '0'.repeat(64);

type Line = Record<string, any>;
type Parts = Record<(typeof partNames)[number], Line[]>;

const file = (position: number) => ({
  origin: 1,
  position,
  name: `${position}.xsd`,
  bytes: 1,
  sha256: '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881',
  content: 'eA==',
});

/** Two versions, the second with a logical schema. */
function goodParts(): Parts {
  const origin = (id: number, parent: number | null) => ({
    origin: id,
    parent,
    name: 'orders',
    version: id,
    source_type: 'xsd',
    created: moment,
  });
  const mapping = ({ xpath, table, column }: (typeof model.mappings)[number], line: number) => ({
    logical_schema: 7,
    line,
    xpath,
    table: model.tables[table]!.name,
    column: column === null ? null : model.tables[table]!.columns[column]!.name,
    active: true,
  });
  return structuredClone({
    'origins.ndjson': [origin(1, null), origin(2, 1)],
    'source_models.ndjson': [
      { origin: 1, model: source },
      { origin: 2, model: source },
    ],
    'files.ndjson': [file(0), file(1)],
    'statistics.ndjson': [{ origin: 1, statistics }],
    'job_statistics.ndjson': [{ origin: 1, created: moment, statistics }],
    'natural_keys.ndjson': [{ table: 'line', column: 'no', position: 1 }],
    'logical_schemas.ndjson': [{ logical_schema: 7, origin: 2, created: moment, model_hash: hash, model }],
    'mappings.ndjson': model.mappings.map(mapping),
    'diagrams.ndjson': [
      { logical_schema: 7, saved: moment, svg: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    ],
  }) as unknown as Parts;
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

const sourceOf = (parts: Parts): Line => parts['source_models.ndjson'][0]!['model'] as Line;
const tablesOf = (parts: Parts): Line[] => parts['logical_schemas.ndjson'][0]!['model'].tables as Line[];
const nodesOf = (parts: Parts): Line[] => parts['logical_schemas.ndjson'][0]!['model'].nodes as Line[];
const childType = ({ types, elements }: Line): Line => types[elements[types[0].children[0].element].type];

const damages: Readonly<Record<string, readonly [does: (parts: Parts) => void, says: RegExp]>> = {
  'origins in another order': [
    (parts) => (parts['origins.ndjson'] = parts['origins.ndjson'].toReversed()),
    /order|missing/,
  ],
  'an origin twice': [(parts) => parts['origins.ndjson'].push(parts['origins.ndjson'][0]!), /order/],
  'one version twice': [(parts) => (parts['origins.ndjson'][1]!['version'] = 1), /order/],
  'a parent that is not there': [(parts) => (parts['origins.ndjson'][1]!['parent'] = 77), /missing/],
  'a parent that is itself': [(parts) => (parts['origins.ndjson'][1]!['parent'] = 2), /missing/],
  'an origin without a model': [(parts) => parts['source_models.ndjson'].pop(), /no source model/],
  'a model of an origin elsewhere': [(parts) => (parts['source_models.ndjson'][1]!['origin'] = 3), /missing/],
  'an XSD file without its content': [
    (parts) => delete parts['files.ndjson'][1]!['content'],
    /"1\.xsd" has no content/,
  ],
  'files in another order': [
    (parts) => (parts['files.ndjson'] = parts['files.ndjson'].toReversed()),
    /order/,
  ],
  'a file with a place far off': [
    (parts) => (parts['files.ndjson'][1]!['position'] = 2_000_000_000),
    /order/,
  ],
  'mappings in another order': [
    (parts) => (parts['mappings.ndjson'] = parts['mappings.ndjson'].toReversed()),
    /order/,
  ],
  'a mapping of a logical schema elsewhere': [
    (parts) => (parts['mappings.ndjson'][0]!['logical_schema'] = 8),
    /missing/,
  ],
  'a logical schema twice': [
    (parts) => parts['logical_schemas.ndjson'].push(parts['logical_schemas.ndjson'][0]!),
    /occurs twice/,
  ],
  'a logical schema of an origin elsewhere': [
    (parts) => (parts['logical_schemas.ndjson'][0]!['origin'] = 9),
    /missing/,
  ],
  'two drawings of one': [
    (parts) => parts['diagrams.ndjson'].push(parts['diagrams.ndjson'][0]!),
    /occurs twice/,
  ],
  'a natural key twice': [
    (parts) => parts['natural_keys.ndjson'].push(parts['natural_keys.ndjson'][0]!),
    /named twice/,
  ],
  'statistics that are none': [
    (parts) => (parts['statistics.ndjson'][0]!['statistics'] = 5),
    /not an object/,
  ],
  'statistics of a later form': [
    (parts) => (parts['statistics.ndjson'][0]!['statistics'].format = 2),
    /known values/,
  ],
  'statistics that count below zero': [
    (parts) => (parts['job_statistics.ndjson'][0]!['statistics'].documents = -1),
    /whole number/,
  ],
  'statistics whose indexes lead nowhere': [
    (parts) => (parts['statistics.ndjson'][0]!['statistics'].roots = [4_000_000]),
    /something that is missing/,
  ],
  'statistics nested deep': [
    (parts) => (parts['statistics.ndjson'][0]!['statistics'].more = nested(20_000)),
    /nested too deeply/,
  ],
  'a model nested deep': [
    (parts) => (parts['source_models.ndjson'][0]!['model'].more = nested(20_000)),
    /nested too deeply/,
  ],
  'a name with half a character': [
    (parts) => (parts['origins.ndjson'][0]!['name'] = 'a\ud800'),
    /not a valid text/,
  ],
  'a name with a NUL': [(parts) => (parts['origins.ndjson'][0]!['name'] = 'a\0'), /not a valid text/],
  'an id beyond what a number holds': [
    (parts) => (parts['origins.ndjson'][0]!['origin'] = 2 ** 53),
    /whole number/,
  ],
  'a built-in type that is none': [
    (parts) =>
      (parts['source_models.ndjson'][0]!['model'].types.find(
        (one: Line) => one['value'] !== null || one['attributes'].length > 0,
      )['attributes'][0].type.base = 'constructor'),
    /known values/,
  ],
  'a simple type that holds elements, itself among them': [
    (parts) => (sourceOf(parts)['types'][0].complex = false),
    /a simple type with/,
  ],
  'elements in content that has none': [
    (parts) => (sourceOf(parts)['types'][0].content = 'empty'),
    /content that has none/,
  ],
  'simple content without a type of its value': [
    (parts) => (childType(sourceOf(parts))['content'] = 'simple'),
    /a value without simple content/,
  ],
  'types that are derived from each other': [
    (parts) => sourceOf(parts)['types'].forEach((type: Line, index: number) => (type['base'] = index ^ 1)),
    /derived from itself/,
  ],
  'more elements at least than at most': [
    (parts) => Object.assign(sourceOf(parts)['types'][0].children[0], { minOccurs: 3, maxOccurs: 2 }),
    /at least than at most/,
  ],
  'an attribute twice': [
    (parts) => {
      const { attributes } = childType(sourceOf(parts));
      attributes.push(attributes[0]);
    },
    /an attribute twice/,
  ],
  'a list of values that is none': [
    (parts) => (childType(sourceOf(parts))['attributes'][0].type.facets.enumeration = 'x'),
    /not a list/,
  ],
  'a name that closes its tag': [
    (parts) => (sourceOf(parts)['elements'][0].name.localName = 'a><b'),
    /not a valid text/,
  ],
  'two tables that differ by case': [
    (parts) => (tablesOf(parts)[1]!['name'] = String(tablesOf(parts)[0]!['name']).toUpperCase()),
    /twice/,
  ],
  'two columns of one name': [
    (parts) => (tablesOf(parts)[1]!['columns'][1].name = tablesOf(parts)[1]!['columns'][0].name),
    /twice/,
  ],
  'a table that is called as one of ours': [(parts) => (tablesOf(parts)[0]!['name'] = '_Loads'), /twice/],
  'a name of ten megabytes': [
    (parts) => (tablesOf(parts)[0]!['name'] = 'x'.repeat(10_000_000)),
    /more than 63 bytes/,
  ],
  'a name with a line break': [(parts) => (tablesOf(parts)[0]!['name'] = 'a\nb'), /invisible characters/],
  'a table without its row key': [(parts) => (tablesOf(parts)[0]!['columns'][0].role = 'value'), /row key/],
  'a new name without an old one': [
    (parts) => (parts['logical_schemas.ndjson'][0]!['model'].options = { rename: [['a', 'b', 'c']] }),
    /an old and a new name/,
  ],
  'an element that is folded into itself': [
    (parts) => {
      const child = nodesOf(parts).findIndex((one) => one['edges'].length === 0);
      const edge = { name: { namespaceUri: '', localName: 'again' }, minOccurs: 0, maxOccurs: 1 };
      Object.assign(nodesOf(parts)[child]!, { opensRow: false });
      nodesOf(parts)[child]!['edges'].push({ ...edge, node: child, parentKeyColumn: -1 });
    },
    /into itself/,
  ],
  'text in a table of elements': [(parts) => (nodesOf(parts)[0]!['textTable'] = 0), /another kind/],
  'a column for something unheard of': [
    (parts) => (parts['logical_schemas.ndjson'][0]!['model'].tables[0].columns[0].role = 'superuser'),
    /known values/,
  ],
  'a row that fills a column beyond its table': [
    (parts) => {
      const plan = parts['logical_schemas.ndjson'][0]!['model'].nodes as Line[];
      plan.find((one) => one['edges'].length > 0)!['edges'][0].parentKeyColumn = 900;
    },
    /something that is missing/,
  ],
  'a root that fills a column beyond its table': [
    (parts) => (parts['logical_schemas.ndjson'][0]!['model'].roots[0].parentKeyColumn = 900),
    /something that is missing/,
  ],
};

describe('a package with the right hashes', () => {
  it('and the right content passes', async () => {
    const manifest = await checkPackage(await packed(goodParts()));
    expect(manifest.parts.map(({ records }) => records)).toEqual([
      2,
      2,
      2,
      1,
      1,
      1,
      1,
      model.mappings.length,
      1,
    ]);
  });

  it.each(Object.entries(damages))('is refused with %s', async (_, [does, says]) => {
    const parts = goodParts();
    does(parts);
    const error = await checkPackage(await packed(parts)).then(
      () => null,
      (fault: unknown) => fault,
    );
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'unprocessable_input', message: expect.stringMatching(says) });
  });

  it.each([0, 2, 1e15])('is refused in format %s', async (version) => {
    const folder = await packed(goodParts(), (text) => {
      const { sha256: _, ...manifest } = JSON.parse(text) as { sha256: string; format_version: number };
      const changed = { ...manifest, format_version: version };
      return JSON.stringify({ ...changed, sha256: sha256(JSON.stringify(changed)) });
    });
    await expect(checkPackage(folder)).rejects.toMatchObject({ code: 'unprocessable_input' });
  });

  it('is looked through in one go, however many versions it has', async () => {
    const parts = goodParts();
    const [first] = parts['origins.ndjson'];
    parts['origins.ndjson'] = Array.from({ length: 100_000 }, (_, at) => ({
      ...first,
      origin: at + 1,
      version: at + 1,
    }));
    await expect(checkPackage(await packed(parts))).rejects.toThrow('no source model');
  });

  it('is refused where it counts more records than there are', async () => {
    const folder = await packed(goodParts(), (text) => {
      const { sha256: _, ...manifest } = JSON.parse(text) as { sha256: string; parts: PartDigest[] };
      const parts = manifest.parts.map((part) => ({ ...part, records: Number.MAX_SAFE_INTEGER }));
      const changed = { ...manifest, parts };
      return JSON.stringify({ ...changed, sha256: sha256(JSON.stringify(changed)) });
    });
    await expect(checkPackage(folder)).rejects.toThrow('modified or truncated');
  });
});

/** In memory, signed as the program signs; `change`: of the manifest. */
async function packed(
  parts: Parts,
  change: (manifest: string) => string = (text) => text,
): Promise<PackageFolder> {
  const files = new Map<string, string>();
  const folder: PackageFolder = {
    listFiles: async () => [...files].map(([name, text]) => ({ name, bytes: Buffer.byteLength(text) })),
    async write(name, lines) {
      let text = '';
      for await (const line of lines) text += `${line}\n`;
      files.set(name, text);
      return digestOf(text);
    },
    read: (name) => ({
      lines: (async function* () {
        yield* files.get(name)!.split('\n').slice(0, -1);
      })(),
      digest: () => digestOf(files.get(name)!),
    }),
  };
  const entries = [];
  for (const name of partNames)
    entries.push({
      name,
      ...(await folder.write(
        name,
        parts[name].map((line) => JSON.stringify(line)),
      )),
    });
  await writeManifest(folder, { created: 1, installation: 'there', origin_id: '1', parts: entries });
  files.set(manifestName, `${change(files.get(manifestName)!)}\n`);
  return folder;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function digestOf(text: string): PartDigest {
  return {
    records: text.split('\n').length - 1,
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
  };
}
