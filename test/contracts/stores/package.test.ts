/** Packages against a real database: large ones, and ones that someone has been at. */
import { cp, link, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalPackageFolder, replaceFolder } from '../../../src/tools/transfer/local-package-folder.ts';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { createPostgresTransferStore } from '../../../src/metadb/transfer-store.ts';
import { AppError } from '../../../src/errors.ts';
import { exportPackage } from '../../../src/service/transfer/package-export.ts';
import { importPackage } from '../../../src/service/transfer/package-import.ts';
import { manifestName, partNames } from '../../../src/service/transfer/package-format.ts';
import type { Claim, JobStore } from '../../../src/ports/stores/jobs.ts';
import { sha256, signPart } from '../../support/transfer/sign-part.ts';
import { dumpFamily } from '../../support/transfer/tables.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { compiled, modelOf } from '../../support/models/shredding.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const idOrg = 1;
const one = { idOrg, idJob: null };

describe('a package', { timeout: 60_000 }, () => {
  let source: TestDatabase;
  let target: TestDatabase;
  const trial = useTrial();
  let folder: string;
  let good: string;

  beforeAll(async () => {
    [source, target] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    folder = await trial.folder('package-test-');
    good = join(folder, 'good');
    const idSch = await store(source, 'orders', 3, 4);
    await write(source, idSch, good);
  });

  afterAll(async () => {
    await Promise.all([source?.drop(), target?.drop()]);
  });

  it('holds 20,000 mappings as well as three', needs('whole run'), async () => {
    const idSch = await store(source, 'wide', 200, 100);
    const catalog = createPostgresCatalogStore(source.sql);
    const { idLschma } = (await catalog.loadLogicalSchema(idOrg, { idSch }))!;
    const mappings = await catalog.listMappings(idOrg, idLschma);
    expect(mappings.length).toBeGreaterThanOrEqual(20_000);
    const off = mappings.filter(
      ({ column_name: column, key }, at) => column !== null && key === null && at % 7 === 0,
    );
    await catalog.setMappingsActive(
      idOrg,
      idLschma,
      off.map(({ id_map: id }) => id),
      false,
    );
    const path = join(folder, 'wide');
    await write(source, idSch, path);
    const { origins } = await importPackage(
      createPostgresTransferStore(target.sql),
      createLocalPackageFolder(path),
      one,
    );
    expect(await dumpFamily(target.sql, origins[0]!)).toEqual(await dumpFamily(source.sql, idSch));
  });

  const damages: Readonly<Record<string, Damage>> = {
    'a changed part of the same length': {
      does: replace('origins.ndjson', 'orders', 'ordars'),
      says: /match its manifest|differs from the manifest/,
    },
    'a longer part': { does: append('mappings.ndjson', '{}\n'), says: /differs from the manifest/ },
    'psql meta-commands in a part': {
      does: append('diagrams.ndjson', "\\! touch meta-command-ran\n\\copy svc.origin from program 'id'\n"),
      says: /differs from the manifest/,
    },
    'psql meta-commands that the manifest agrees with': {
      does: forge('natural_keys.ndjson', append('natural_keys.ndjson', '\\! touch meta-command-ran\n')),
      says: /not JSON/,
    },
    'a statement where a name should be': {
      does: forge(
        'origins.ndjson',
        replace('origins.ndjson', '"name":"orders"', `"name":"x'; drop table svc.job; --/"`),
      ),
      says: /name is not a valid text/,
    },
    'a part cut off': {
      does: async (path) => {
        const file = join(path, 'logical_schemas.ndjson');
        await writeFile(file, (await readFile(file)).subarray(0, -100));
      },
      says: /differs from the manifest/,
    },
    'a missing part': { does: (path) => rm(join(path, 'statistics.ndjson')), says: /missing/ },
    'a missing manifest': { does: (path) => rm(join(path, manifestName)), says: /no manifest/ },
    'a part beside those of the manifest': {
      does: (path) => writeFile(join(path, 'load.sql'), '\\! touch meta-command-ran\n'),
      says: /"load.sql" is not part/,
    },
    'a folder beside the parts': { does: (path) => mkdir(join(path, 'more')), says: /not a plain file/ },
    'a link in the place of a part': {
      does: async (path) => {
        await rm(join(path, 'files.ndjson'));
        await symlink('/etc/passwd', join(path, 'files.ndjson'));
      },
      says: /not a plain file/,
    },
    'a count changed in the manifest': {
      does: replace(manifestName, /"records": 1,/, '"records": 2,'),
      says: /modified/,
    },
    'an origin changed in the manifest': {
      does: replace(manifestName, /"origin_id": "\d+"/, '"origin_id": "77"'),
      says: /modified/,
    },
    'a hash changed in the manifest': {
      does: replace(manifestName, /("sha256": ")[0-9a-f]{4}/, '$10000'),
      says: /modified/,
    },
    'a part of another name in the manifest': {
      does: replace(manifestName, '"origins.ndjson"', '"../../origins.ndjson"'),
      says: /modified/,
    },
    'a later format': {
      does: replace(manifestName, '"format_version": 1', '"format_version": 2'),
      says: /format version is 2/,
    },
    'a manifest that is no JSON': {
      does: (path) => writeFile(join(path, manifestName), '\\! id\n'),
      says: /not JSON/,
    },
    'a model whose indexes lead nowhere': {
      does: forge(
        'logical_schemas.ndjson',
        replace('logical_schemas.ndjson', /"table":\d+/, '"table":99999'),
      ),
      says: /something that is missing/,
    },
    'a type that is none': {
      does: forge(
        'logical_schemas.ndjson',
        replace('logical_schemas.ndjson', '"kind":"bigint"', '"kind":"bigint); drop"'),
      ),
      says: /known values/,
    },
    'content under the hash of another file': {
      does: forge('files.ndjson', replace('files.ndjson', /"content":"..../, '"content":"AAAA')),
      says: /match its hash/,
    },
    'a drawing with a script': {
      does: forge(
        'diagrams.ndjson',
        append(
          'diagrams.ndjson',
          `${JSON.stringify({
            logical_schema: 1,
            saved: '2026-01-01T00:00:00.000000Z',
            svg: '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
          })}\n`,
        ),
      ),
      says: /diagram is refused/,
    },
    'a switch of a mapping that is not there': {
      does: forge('mappings.ndjson', replace('mappings.ndjson', /"table":"[^"]+"/, '"table":"nowhere"')),
      says: /does not belong to its logical schema/,
    },
  };

  it.each(Object.entries(damages))(
    'is refused with %s, and nothing is changed',
    async (_, { does, says }) => {
      const path = await mkdtemp(join(folder, 'damaged-'));
      await cp(good, path, { recursive: true });
      await does(path);
      const before = await everything(target);
      const imported = importPackage(
        createPostgresTransferStore(target.sql),
        createLocalPackageFolder(path),
        one,
      );
      const error = await imported.then(
        () => null,
        (fault: unknown) => fault,
      );
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).code).toBe('unprocessable_input');
      expect((error as AppError).message).toMatch(says);
      expect(await everything(target)).toEqual(before);
      expect(await readdir('.')).not.toContain('meta-command-ran');
      await rm(path, { recursive: true });
    },
  );

  it('is refused where a part changes between check and storing', async () => {
    const path = join(folder, 'racing');
    await cp(good, path, { recursive: true });
    const inner = createLocalPackageFolder(path);
    let readings = 0;
    const racing: typeof inner = {
      ...inner,
      read: (name) => {
        const reading = inner.read(name);
        if (name !== 'origins.ndjson' || (readings += 1) < 2) return reading;
        return {
          ...reading,
          lines: (async function* () {
            await replace('origins.ndjson', 'orders', 'ordars')(path);
            yield* reading.lines;
          })(),
        };
      },
    };
    const before = await everything(target);
    await expect(importPackage(createPostgresTransferStore(target.sql), racing, one)).rejects.toThrow(
      'modified or truncated',
    );
    expect(readings).toBe(2);
    expect(await everything(target)).toEqual(before);
  });

  it('needs an organisation that is there', async () => {
    const imported = importPackage(createPostgresTransferStore(target.sql), createLocalPackageFolder(good), {
      idOrg: 4711,
      idJob: null,
    });
    await expect(imported).rejects.toThrow('organisation 4711');
  });

  it('is stored together with the end of its job, or not at all', async () => {
    const store = createPostgresTransferStore(target.sql);
    const jobs = createPostgresJobStore(target.sql);
    const importAs = (idJob: number) =>
      importPackage(store, createLocalPackageFolder(good), { idOrg, idJob });
    try {
      const claim = await startImport(jobs);
      const { origins } = await importAs(claim.idJob);
      // whoever ran it may be dead by now
      const record = await jobs.findJob(idOrg, claim.idJob);
      expect(record).toMatchObject({ status: 'completed', progress: 1, id_sch: origins.at(-1) });
      expect(await jobs.finish(claim, 'failed', 'its worker died')).toBe(false);

      const { idJob } = await startImport(jobs);
      await jobs.requestKill(idOrg, idJob);
      const before = await everything(target);
      await expect(importAs(idJob)).rejects.toMatchObject({ code: 'conflict' });
      expect(await everything(target)).toEqual(before);
    } finally {
      await jobs.close();
    }
  });

  it('takes the place of an earlier package, and of nothing else', async () => {
    const known = [manifestName, ...partNames];
    const path = join(folder, 'twice');
    const [{ id_sch: idSch }] =
      (await source.sql`select min(id_sch) as id_sch from svc.origin`) as unknown as [{ id_sch: number }];
    await write(source, idSch, path);
    const manifest = join(path, manifestName);
    const first = (await stat(manifest)).ino;
    await write(source, idSch, path);
    expect((await stat(manifest)).ino).not.toBe(first);
    expect((await readdir(path)).toSorted()).toEqual([...known].toSorted());
    await link(join(path, manifestName), join(path, 'mine.txt'));
    await expect(write(source, idSch, path)).rejects.toThrow('other files');
    expect(await readdir(path)).toContain('mine.txt');
    const failing = replaceFolder(join(folder, 'failing'), known, manifestName, () =>
      Promise.reject(new Error('broken')),
    );
    await expect(failing).rejects.toThrow('broken');
    expect((await readdir(folder)).filter((name) => name.includes('failing'))).toEqual([]);
  });
});

interface Damage {
  readonly does: (path: string) => Promise<unknown>;
  readonly says: RegExp;
}
function append(name: string, text: string) {
  return async (path: string): Promise<void> => {
    const file = join(path, name);
    await writeFile(file, (await readFile(file, 'utf8')) + text);
  };
}

function replace(name: string, from: string | RegExp, to: string) {
  return async (path: string): Promise<void> => {
    const file = join(path, name);
    const text = await readFile(file, 'utf8');
    if (text.replace(from, to) === text) throw new Error(`${name} has no ${from}`);
    await writeFile(file, text.replace(from, to));
  };
}

/** Changes a part, and makes the manifest agree: only what the part says can be wrong then. */
function forge(name: string, change: (path: string) => Promise<unknown>) {
  return async (path: string): Promise<void> => {
    await change(path);
    await signPart(path, name);
  };
}

function write(database: TestDatabase, idSch: number, path: string): Promise<unknown> {
  return replaceFolder(path, [manifestName, ...partNames], manifestName, (part) =>
    exportPackage(createPostgresTransferStore(database.sql), createLocalPackageFolder(part), {
      idOrg,
      idSch,
      nowMs: 1_790_000_000_000,
    }),
  );
}

/** An origin of `elements` complex elements with `leaves` attributes and leaf elements each, with its model. */
async function store({ sql }: TestDatabase, name: string, elements: number, leaves: number): Promise<number> {
  const xsd = wideXsd(elements, leaves);
  const catalog = createPostgresCatalogStore(sql);
  const model = compiled(xsd);
  const content = new TextEncoder().encode(xsd);
  const file = {
    name: `${name}.xsd`,
    bytes: content.byteLength,
    sha256: sha256(content),
    content,
    entry: true,
  };
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg,
    idParentSch: null,
    idJob: null,
    name,
    sourceType: 'xsd',
    model,
    files: [file],
  });
  await catalog.createLogicalSchema(idOrg, idSch, modelOf(model, 0), null);
  return idSch;
}

function wideXsd(elements: number, leaves: number): string {
  const all = Array.from(
    { length: leaves },
    (_, at) => `<xs:element name="leaf${at}" type="xs:decimal" minOccurs="0"/>`,
  ).join('');
  const element = (at: number): string =>
    `<xs:element name="part${at}" maxOccurs="unbounded"><xs:complexType><xs:sequence>${all}</xs:sequence></xs:complexType></xs:element>`;
  const parts = Array.from({ length: elements }, (_, at) => element(at)).join('\n');
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="all"><xs:complexType><xs:sequence>
    ${parts}</xs:sequence></xs:complexType></xs:element></xs:schema>`;
}

function startImport(jobs: JobStore): Promise<Claim> {
  const texts = {
    jobType: 'Import',
    tool: 'migrate',
    params: 'import',
    paramsJson: '{}',
    request: '{}',
  } as const;
  const places = { inputPath: null, outputPath: null, idSch: null, idParentJob: null };
  const worker = { workerId: 'w', host: 'h/127.0.0.1', osUser: 'u', basePath: '/' };
  return jobs.startByHand({ ...texts, ...places }, idOrg, worker, 60_000);
}

/** Every row of every table of the service. */
async function everything({ sql }: TestDatabase): Promise<Record<string, number | string>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
     where table_schema = 'svc' and table_type = 'BASE TABLE' order by 1`;
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sql.unsafe(
      `select coalesce(md5(string_agg(md5(to_jsonb(t)::text), '' order by md5(to_jsonb(t)::text))), '') as hash from svc.${name} t`,
    );
    found[name] = row?.['hash'] as string;
  }
  return found;
}
