/** The compiler thread for real: what it makes, and what ends it. */
import { startThread } from '../../../src/installation.ts';
import { createSecretBox } from '../../../src/runtime/system/secret-box.ts';
import { createMemoryCredentialStore } from '../../support/memory/credentials.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { beforeAll, describe, expect, it } from 'vitest';
import { createIsolatedSchemaCompiler } from '../../../src/process/schema-compiler.ts';
import { createSystemClock } from '../../../src/runtime/system/clock.ts';
import { nextModel } from '../../../src/service/catalog/logical-schema.ts';
import { createSchema } from '../../../src/service/catalog/create-schema.ts';
import { packRelationalModel, packSourceModel } from '../../../src/engine/model/packed/models.ts';
import { lineIdentity } from '../../../src/engine/map/mappings.ts';
import { defaultLimits, type Limits } from '../../../src/config/limits.ts';
import type { CachedSet } from '../../../src/ports/stores/catalog.ts';
import type { FileStore } from '../../../src/ports/files.ts';
import { createMemoryCatalogStore } from '../../support/memory/catalog.ts';
import { compiled, statisticsOf } from '../../support/models/shredding.ts';
import { zipped } from '../../support/service/archives.ts';
import { useTrial } from '../../support/service/trial.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;
const items =
  xs(`<xs:element name="items"><xs:complexType><xs:sequence><xs:element name="item" type="xs:int" maxOccurs="9"/>
  </xs:sequence></xs:complexType></xs:element>`);

const trial = useTrial();
let folder: string;
const file = async (name: string, content: string): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};
beforeAll(async () => void (folder = await trial.folder('schema-compiler-')));

const threadOf =
  (module: URL) =>
  (options: WorkerOptions): Worker =>
    new Worker(module, options);

function compiler(
  more: {
    timeMs?: number;
    memoryBytes?: number;
    startThread?: (options: WorkerOptions) => Worker;
    settings?: Limits;
  } = {},
) {
  return createIsolatedSchemaCompiler({
    startThread: (options) => startThread('service/schema-compiler', options),
    timeMs: 60_000,
    memoryBytes: 256 * 1024 * 1024,
    settings: defaultLimits,
    ...more,
  });
}

describe('a compiler thread', () => {
  it('makes models of XSD files and documents', async () => {
    const xsd = [await file('items.xsd', items)];
    const xml = [await file('items.xml', '<items><item>1</item><item>2</item></items>')];
    const made = await compiler().compile({
      idOrg: 1,
      xsd,
      xml,
      mapLevel: 1,
      nameMaxLength: 20,
      root: 'items',
    });
    expect(made.source.elements.map(({ name }) => name.localName)).toEqual(['items', 'item']);
    expect(made.model).toMatchObject({ mapLevel: 1, nameMaxLength: 20 });
    // they come packed, and are stored so: to pack a large one would hold up the service
    expect(packRelationalModel(made.model).plan).toBe(packRelationalModel(made.model).plan);
    expect(packSourceModel(made.source)).toBe(packSourceModel(made.source));
    expect(made.statistics).toMatchObject({ documents: 1 });
    expect(made.files.map(({ name, sha256 }) => [name, sha256.length])).toEqual([
      ['items.xsd', 64],
      ['items.xml', 64],
    ]);
    const inferred = await compiler().compile({ idOrg: 1, xsd: [], xml, mapLevel: 3 });
    expect(inferred.model.tables.map(({ name }) => name)).toEqual(['items', 'item']);
  });

  it('does not compile a set again that the catalogue has, whoever compiled it', async () => {
    const xsd = [await file('items.xsd', items)];
    const catalog = createMemoryCatalogStore(createSystemClock());
    const found: (CachedSet | null)[] = [];
    const settings = { allowedHosts: [], metadbUrl: null };
    const adapters = {
      credentials: createMemoryCredentialStore(createSystemClock()),
      secrets: createSecretBox(new Uint8Array(32)),
      catalog: {
        ...catalog,
        findCompiledSet: async (idOrg: number, fingerprint: string) => {
          found.push(await catalog.findCompiledSet(idOrg, fingerprint));
          return found.at(-1)!;
        },
      },
      files: { resolve: async (_idOrg: number, path: string) => path } as unknown as FileStore,
      compiler: compiler(),
    };
    const first = await createSchema(adapters, settings, 1, { name: 'first', xsd, xml: [] });
    const again = await createSchema(adapters, settings, 1, { name: 'again', xsd, xml: [], mapLevel: 3 });
    expect(found).toEqual([null, expect.objectContaining({ diagnostics: [] })]);
    expect(again.tables.map(({ name }) => name)).toEqual(first.tables.map(({ name }) => name));
    expect(again.id_sch).not.toBe(first.id_sch);
    // what shapes the tables, or names them, is part of it
    await createSchema(adapters, settings, 1, { name: 'flat', xsd, xml: [], mapLevel: 0 });
    await createSchema(adapters, settings, 1, { name: 'again', xsd, xml: [], idParentSch: again.id_sch });
    expect(found.slice(2)).toEqual([null]);
  });

  it('takes known models as they are, and reads documents all the same', async () => {
    const sources = {
      idOrg: 1,
      xsd: [await file('items.xsd', items)],
      xml: [await file('two.xml', '<items><item>1</item></items>')],
      mapLevel: 3,
    } as const;
    const made = await compiler().compile(sources);
    const source = { ...made.source, targetNamespace: 'urn:known' };
    const known = await compiler().compile(sources, async (fingerprint) =>
      fingerprint === made.fingerprint ? { source, model: made.model } : null,
    );
    expect(known).toEqual({ ...made, source });
    expect(known.statistics).toMatchObject({ documents: 1 });
    const fault = new Error('the database is away');
    await expect(compiler().compile(sources, () => Promise.reject(fault))).rejects.toBe(fault);
  });

  it('holds archives to the limits that are set', async () => {
    const archive = join(folder, 'three.zip');
    await writeFile(
      archive,
      zipped(['a', 'b', 'c'].map((name) => ({ name: `${name}.xml`, bytes: Buffer.from(`<${name}/>`) }))),
    );
    const sources = { idOrg: 1, xsd: [], xml: [archive], mapLevel: 3 } as const;
    expect((await compiler().compile(sources)).statistics).toMatchObject({ documents: 3 });
    const settings = { ...defaultLimits, archiveMembers: 2 };
    await expect(compiler({ settings }).compile(sources)).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining('more than 2 members'),
    });
    await expect(compiler({ settings }).compile({ ...sources, xsd: [archive], xml: [] })).rejects.toThrow(
      'more than 2 members',
    );
  });

  it('names file, line and column of what is wrong', async () => {
    const two = xs('<xs:element name="a" type="Nowhere"/>\n<xs:element name="b" type="Neither"/>');
    const fault = compiler().compile({ idOrg: 1, xsd: [await file('wrong.xsd', two)], xml: [], mapLevel: 3 });
    await expect(fault).rejects.toMatchObject({
      code: 'unprocessable_input',
      errors: expect.arrayContaining([
        { pointer: '/xsd', detail: expect.stringMatching(/^wrong\.xsd: line 2, column/) },
      ]),
    });
    const document = compiler().compile({
      idOrg: 1,
      xsd: [],
      xml: [await file('wrong.xml', '<a>\n<b></a>')],
      mapLevel: 3,
    });
    await expect(document).rejects.toMatchObject({
      code: 'unprocessable_input',
      errors: [{ pointer: '/xml', detail: expect.stringMatching(/^wrong\.xml: line 2, column/) }],
    });
    const xsd = [await file('items.xsd', items)];
    await expect(
      compiler().compile({ idOrg: 1, xsd, xml: [], mapLevel: 3, root: 'nothing' }),
    ).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining('nothing'),
    });
  });

  it('makes the next models of an origin, as they would be made here', async () => {
    const xsd = [await file('items.xsd', items)];
    const { source, model } = await compiler().compile({ idOrg: 1, xsd, xml: [], mapLevel: 3 });
    const inactive = model.mappings
      .filter(({ xpath }) => xpath === '/items/item')
      .map((line) => lineIdentity(line));
    const next = { idOrg: 1, sourceType: 'xsd', source, statistics: null, newest: model, inactive } as const;
    const made = await compiler().generate({ ...next, maxLength: 12 });
    expect(made.source).toBe(null);
    expect(made.model).toMatchObject({ nameMaxLength: 12, tables: [{ name: 'items' }] });
    expect(JSON.parse(JSON.stringify(made.model))).toEqual(
      JSON.parse(JSON.stringify(nextModel({ ...next, maxLength: 12 }).model)),
    );
    const inferred = await compiler().generate({
      ...next,
      sourceType: 'xml',
      statistics: statisticsOf(['<items><item>a</item><other/></items>']),
      inactive: [],
    });
    expect(inferred.source!.elements.map(({ name }) => name.localName)).toEqual(['items', 'item', 'other']);
  });

  it('does so within its memory and its time', async () => {
    const source = compiled(items);
    // a type that says two things of itself, as no compiler makes it
    const odd = source.types.map((type) => ({ ...type, complex: false }));
    const own = source.types.findIndex(({ children }) => children.length > 0);
    const children = [{ ...odd[own]!.children[0]!, element: 0, maxOccurs: 1 }];
    const types = odd.map((type, index) => (index === own ? { ...type, children } : type));
    const sources = { idOrg: 1, sourceType: 'xsd', statistics: null, newest: null, inactive: [] } as const;
    const endless = compiler({ memoryBytes: 48 * 1024 * 1024 }).generate({
      ...sources,
      source: { ...source, types },
    });
    await expect(endless).rejects.toThrow(/48 MiB|call stack/);
    const startThread = threadOf(new URL('data:text/javascript,for(;;);'));
    await expect(
      compiler({ startThread, timeMs: 300 }).generate({ ...sources, source }),
    ).rejects.toMatchObject({
      code: 'unprocessable_input',
    });
  });

  it('ends at its deadline, however busy', async () => {
    const startThread = threadOf(new URL('data:text/javascript,for(;;);'));
    await expect(
      compiler({ startThread, timeMs: 300 }).compile({ idOrg: 1, xsd: [], xml: [], mapLevel: 3 }),
    ).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining('longer than 300 ms'),
    });
  });

  it('ends when its memory is spent', async () => {
    const startThread = threadOf(
      new URL('data:text/javascript,const all=[];for(;;)all.push({a:all.length,b:[1]})'),
    );
    const made = compiler({ startThread, memoryBytes: 32 * 1024 * 1024 }).compile({
      idOrg: 1,
      xsd: [],
      xml: [],
      mapLevel: 3,
    });
    await expect(made).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining('32 MiB'),
    });
  });
});
