/** What every catalog store must do, whatever it is made of. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  Column,
  ColumnRole,
  RelationalModel,
  Table,
} from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import type { CatalogStore, NewOrigin } from '../../../src/ports/stores/catalog.ts';

export interface CatalogStoreFixture {
  readonly store: CatalogStore;
  createOrg(): Promise<number>;
  /** a job of that organisation */
  createJob(idOrg: number): Promise<number>;
  /** a job of that organisation that reads the origin and has not ended */
  createJobOf(idOrg: number, idSch: number): Promise<number>;
  close(): Promise<void>;
}

export const emptySourceModel: SourceModel = {
  elements: [],
  types: [],
  roots: [],
  primaryRoots: 0,
  targetNamespace: null,
  namespaces: {},
};

const stays: SourceModel = {
  elements: [
    {
      name: { namespaceUri: 'urn:stay', localName: 'stays' },
      type: 0,
      global: true,
      nillable: false,
      abstract: false,
      substitutes: [],
      identityConstraints: [],
    },
    {
      name: { namespaceUri: 'urn:x', localName: 'note' },
      type: 0,
      global: true,
      nillable: false,
      abstract: false,
      substitutes: [],
      identityConstraints: [],
    },
    {
      name: { namespaceUri: 'urn:stay', localName: 'stay' },
      type: 0,
      global: true,
      nillable: false,
      abstract: false,
      substitutes: [],
      identityConstraints: [],
    },
  ],
  types: [
    {
      name: null,
      complex: true,
      abstract: false,
      content: 'empty',
      value: null,
      attributes: [],
      children: [],
      anyElement: null,
      anyAttribute: null,
      base: null,
      derivation: null,
      derived: [],
    },
  ],
  roots: [0, 1, 2],
  primaryRoots: 2,
  targetNamespace: 'urn:stay',
  namespaces: { s: 'urn:stay', x: 'urn:x' },
};

function column(name: string, role: ColumnRole, more: Partial<Column> = {}): Column {
  return {
    name,
    role,
    type: { kind: 'bigint' },
    nullable: false,
    xpath: null,
    sourceType: null,
    references: null,
    ...more,
  };
}

function table(name: string, xpath: string, columns: readonly Column[]): Table {
  return { name, kind: 'element', xpath, columns, uniqueKeys: [] };
}

const relational: RelationalModel = {
  mapLevel: 1,
  nameMaxLength: 63,
  tables: [
    table('stays', '/stays', [column('stays_key', 'row_key'), column('document_key', 'document')]),
    table('stay', '/stays/stay', [
      column('stay_key', 'row_key'),
      column('stays_key', 'parent_key', { references: 0 }),
      column('outer_key', 'parent_key', { references: 1, nullable: true }),
      column('position', 'position', { type: { kind: 'integer' } }),
      column('price', 'value', {
        type: { kind: 'numeric', precision: 10, scale: 2 },
        xpath: '/stays/stay/price',
        sourceType: 'decimal',
      }),
      column('tags', 'value', {
        type: { kind: 'text', length: 20, list: true },
        nullable: true,
        xpath: '/stays/stay/@tags',
        sourceType: 'NMTOKENS',
      }),
    ]),
  ],
  nodes: [],
  roots: [],
  mappings: [
    {
      xpath: '/stays/stay/@tags',
      nodeType: 'attribute',
      sourceType: 'NMTOKENS',
      minOccurs: 0,
      maxOccurs: 1,
      table: 1,
      column: 5,
    },
    {
      xpath: '/stays',
      nodeType: 'element',
      sourceType: '',
      minOccurs: 1,
      maxOccurs: 1,
      table: 0,
      column: null,
    },
    {
      xpath: '/stays/stay',
      nodeType: 'element',
      sourceType: '',
      minOccurs: 0,
      maxOccurs: null,
      table: 1,
      column: null,
    },
    {
      xpath: '/stays/stay/price',
      nodeType: 'element',
      sourceType: 'decimal',
      minOccurs: 1,
      maxOccurs: 1,
      table: 1,
      column: 4,
      documentation: 'per night',
    },
  ],
  namespaces: {},
};

function origin(idOrg: number, more: Partial<NewOrigin> = {}): NewOrigin {
  return {
    idOrg,
    idParentSch: null,
    idJob: null,
    name: 'stays',
    sourceType: 'xsd',
    model: stays,
    files: [],
    ...more,
  };
}

export function describeCatalogStore(name: string, open: () => Promise<CatalogStoreFixture>): void {
  describe(`${name} as a catalog store`, () => {
    let fixture: CatalogStoreFixture;
    let catalog: CatalogStore;
    beforeAll(async () => {
      fixture = await open();
      catalog = fixture.store;
    });
    afterAll(() => fixture.close());

    test('an origin is kept with its model, files and names', async () => {
      const idOrg = await fixture.createOrg();
      const idJob = await fixture.createJob(idOrg);
      const files = [
        { name: 'b.xsd', bytes: 5_000_000_000, sha256: 'ab' },
        { name: 'a.xsd', bytes: 0, sha256: 'cd' },
      ];
      const record = await catalog.createOrigin(origin(idOrg, { idJob, files }));
      expect(record).toEqual({
        id_sch: record.id_sch,
        id_org: idOrg,
        id_parent_sch: null,
        id_lschma: null,
        id_job: idJob,
        name: 'stays',
        version: 1,
        source_type: 'xsd',
        root_elements: ['stays', 'x:note'],
        target_namespace: 'urn:stay',
        namespaces: { s: 'urn:stay', x: 'urn:x' },
        files,
        map_level: 0,
        max_length: 63,
        table_count: 0,
        mapping_count: 0,
        created: record.created,
      });
      expect(Math.abs(record.created - Date.now())).toBeLessThan(60_000);
      expect(await catalog.findOrigin(idOrg, record.id_sch)).toEqual(record);
      expect(await catalog.loadOrigin(idOrg, record.id_sch)).toEqual({
        record,
        model: stays,
        statistics: null,
      });
      expect(await catalog.loadOrigin(idOrg, 987_654_321)).toBeNull();
      expect(await catalog.findOrigin(idOrg, 2 ** 60)).toBeNull();
    });

    test('a name belongs to one family of versions', async () => {
      const idOrg = await fixture.createOrg();
      const first = await catalog.createOrigin(origin(idOrg));
      await expect(catalog.createOrigin(origin(idOrg))).rejects.toMatchObject({ code: 'conflict' });
      const second = await catalog.createOrigin(origin(idOrg, { idParentSch: first.id_sch }));
      expect(second).toMatchObject({ version: 2, id_parent_sch: first.id_sch, name: 'stays' });
      const third = await catalog.createOrigin(origin(idOrg, { idParentSch: first.id_sch, name: 'stays 2' }));
      expect(third.version).toBe(3);
      await expect(catalog.createOrigin(origin(idOrg, { name: 'stays 2' }))).rejects.toMatchObject({
        code: 'conflict',
      });
      const other = await catalog.createOrigin(origin(idOrg, { name: 'other' }));
      await expect(catalog.createOrigin(origin(idOrg, { idParentSch: other.id_sch }))).rejects.toMatchObject({
        code: 'conflict',
      });
      expect((await catalog.listOrigins(idOrg)).map((record) => record.id_sch)).toEqual([
        other.id_sch,
        third.id_sch,
        second.id_sch,
        first.id_sch,
      ]);
      for (const bad of ['', 'group', 'a/b']) {
        await expect(catalog.createOrigin(origin(idOrg, { name: bad }))).rejects.toMatchObject({
          code: 'invalid_parameter',
        });
      }
    });

    test('versions made at the same time have numbers of their own, a name taken at the same time has one owner', async () => {
      const idOrg = await fixture.createOrg();
      const first = await catalog.createOrigin(origin(idOrg));
      const versions = await Promise.all(
        Array.from({ length: 5 }, () => catalog.createOrigin(origin(idOrg, { idParentSch: first.id_sch }))),
      );
      expect(versions.map((record) => record.version).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6]);
      const rivals = await Promise.allSettled(
        Array.from({ length: 5 }, () => catalog.createOrigin(origin(idOrg, { name: 'rival' }))),
      );
      expect(rivals.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      for (const result of rivals)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
    });

    test('another organisation sees nothing', async () => {
      const [idOrg, other] = [await fixture.createOrg(), await fixture.createOrg()];
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      await expect(catalog.createOrigin(origin(other, { idParentSch: id_sch }))).rejects.toMatchObject({
        code: 'not_found',
      });
      await expect(catalog.createLogicalSchema(other, id_sch, relational, null)).rejects.toMatchObject({
        code: 'not_found',
      });
      await expect(catalog.saveStatistics(other, id_sch, null, {}, () => ({}))).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await catalog.findOrigin(other, id_sch)).toBeNull();
      expect(await catalog.loadOrigin(other, id_sch)).toBeNull();
      expect(await catalog.loadLogicalSchema(other, { idSch: id_sch })).toBeNull();
      expect(await catalog.loadLogicalSchema(other, { idLschma })).toBeNull();
      expect(await catalog.listTables(other, idLschma)).toEqual([]);
      expect(await catalog.listMappings(other, idLschma)).toEqual([]);
      expect(await catalog.listOrigins(other)).toEqual([]);
    });

    test('a logical schema is new only when its model is', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const one = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      expect(one).toMatchObject({ idSch: id_sch, model: relational });
      expect(one.modelHash).toMatch(/^[0-9a-f]{64}$/);
      expect((await catalog.createLogicalSchema(idOrg, id_sch, relational, null)).idLschma).toBe(
        one.idLschma,
      );
      const two = await catalog.createLogicalSchema(
        idOrg,
        id_sch,
        { ...relational, mapLevel: 3, nameMaxLength: 30 },
        null,
      );
      expect(two.idLschma).not.toBe(one.idLschma);
      expect(await catalog.loadLogicalSchema(idOrg, { idSch: id_sch })).toEqual(two);
      expect(await catalog.loadLogicalSchema(idOrg, { idSch: id_sch, mapLevel: 1 })).toEqual(one);
      expect(await catalog.loadLogicalSchema(idOrg, { idSch: id_sch, mapLevel: 2 })).toBeNull();
      expect(await catalog.loadLogicalSchema(idOrg, { idLschma: one.idLschma })).toEqual(one);
      expect(await catalog.findOrigin(idOrg, id_sch)).toMatchObject({
        id_lschma: two.idLschma,
        map_level: 3,
        max_length: 30,
        table_count: 2,
        mapping_count: 10,
      });
      expect(await catalog.findOrigin(idOrg, id_sch, one.idLschma)).toMatchObject({
        id_lschma: one.idLschma,
        map_level: 1,
      });
      const other = await catalog.createOrigin(origin(idOrg, { name: 'other' }));
      expect(await catalog.findOrigin(idOrg, other.id_sch, one.idLschma)).toBeNull();
    });

    test('tables are read with their columns, keys and references', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      const tables = await catalog.listTables(idOrg, idLschma);
      expect(tables.map((entry) => [entry.name, entry.xpath, entry.parent_table])).toEqual([
        ['stays', '/stays', null],
        ['stay', '/stays/stay', 'stays'],
      ]);
      const plain = { length: null, precision: null, scale: null, nullable: false, xpath: null };
      expect(
        tables.map((entry) =>
          entry.columns.map(({ id_col, ...rest }) => (expect(id_col).toBeGreaterThan(0), rest)),
        ),
      ).toEqual([
        [
          { ...plain, name: 'stays_key', data_type: 'bigint', key: 'PK', references: null },
          {
            ...plain,
            name: 'document_key',
            data_type: 'bigint',
            key: 'FK',
            references: '_documents.document_key',
          },
        ],
        [
          { ...plain, name: 'stay_key', data_type: 'bigint', key: 'PK', references: null },
          { ...plain, name: 'stays_key', data_type: 'bigint', key: 'FK', references: 'stays.stays_key' },
          {
            ...plain,
            name: 'outer_key',
            data_type: 'bigint',
            key: 'FK',
            references: 'stay.stay_key',
            nullable: true,
          },
          { ...plain, name: 'position', data_type: 'integer', key: null, references: null },
          {
            ...plain,
            name: 'price',
            data_type: 'numeric',
            key: null,
            references: null,
            precision: 10,
            scale: 2,
            xpath: '/stays/stay/price',
          },
          {
            ...plain,
            name: 'tags',
            data_type: 'varchar[]',
            key: null,
            references: null,
            length: 20,
            nullable: true,
            xpath: '/stays/stay/@tags',
          },
        ],
      ]);
    });

    test('mappings are the model’s, and one for each key and position', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      const tables = await catalog.listTables(idOrg, idLschma);
      const mappings = await catalog.listMappings(idOrg, idLschma);
      expect(mappings.map((entry) => [entry.table_name, entry.column_name, entry.xpath, entry.key])).toEqual([
        ['stays', null, '/stays', null],
        ['stays', 'stays_key', null, 'PK'],
        ['stays', 'document_key', null, 'FK'],
        ['stay', null, '/stays/stay', null],
        ['stay', 'stay_key', null, 'PK'],
        ['stay', 'stays_key', null, 'FK'],
        ['stay', 'outer_key', null, 'FK'],
        ['stay', 'position', null, null],
        ['stay', 'price', '/stays/stay/price', null],
        ['stay', 'tags', '/stays/stay/@tags', null],
      ]);
      expect(
        mappings.every((entry) => entry.active && entry.id_sch === id_sch && entry.id_lschma === idLschma),
      ).toBe(true);
      expect(new Set(mappings.map((entry) => entry.id_map)).size).toBe(10);
      expect(mappings[3]).toMatchObject({
        node_type: 'element',
        min_occurs: 0,
        max_occurs: null,
        data_type: null,
        id_tab: tables[1]?.id_tab,
      });
      expect(mappings[7]).toMatchObject({ node_type: null, data_type: 'integer', nullable: false });
      expect(mappings[8]).toMatchObject({
        source_type: 'decimal',
        data_type: 'numeric',
        documentation: 'per night',
        length: null,
      });
      expect(mappings[9]).toMatchObject({
        node_type: 'attribute',
        source_type: 'NMTOKENS',
        data_type: 'varchar[]',
        length: 20,
        nullable: true,
        documentation: null,
      });
    });

    test('a large model is stored and read whole', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const tables = Array.from({ length: 1000 }, (_, t) =>
        table(
          `t${t}`,
          `/t${t}`,
          Array.from({ length: 20 }, (_, c) =>
            column(`c${c}`, 'value', { xpath: `/t${t}/c${c}`, type: { kind: 'text' } }),
          ),
        ),
      );
      const mappings = tables.flatMap((entry, t) =>
        entry.columns.map(
          ({ xpath }, c) =>
            ({
              xpath,
              nodeType: 'element',
              sourceType: 'string',
              minOccurs: 0,
              maxOccurs: 1,
              table: t,
              column: c,
            }) as const,
        ),
      );
      const { idLschma } = await catalog.createLogicalSchema(
        idOrg,
        id_sch,
        { ...relational, tables, mappings },
        null,
      );
      const read = await catalog.listMappings(idOrg, idLschma);
      expect(read).toHaveLength(20_000);
      expect(
        read.every(
          (entry, i) => entry.table_name === `t${Math.floor(i / 20)}` && entry.column_name === `c${i % 20}`,
        ),
      ).toBe(true);
      expect((await catalog.listTables(idOrg, idLschma)).map((entry) => entry.columns.length)).toEqual(
        tables.map(() => 20),
      );
    });

    test('the default of an origin is the newest logical schema that is no variant', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch: idSch } = await catalog.createOrigin(origin(idOrg));
      const make = (level: 0 | 1 | 2 | 3, variant?: boolean) =>
        catalog.createLogicalSchema(idOrg, idSch, { ...relational, mapLevel: level }, null, variant);
      const shaped = await make(0, true);
      expect(shaped.variant).toBe(true);
      expect((await catalog.loadLogicalSchema(idOrg, { idSch }))?.idLschma).toBe(shaped.idLschma);
      const first = await make(1);
      const other = await make(2, true);
      expect(await catalog.loadLogicalSchema(idOrg, { idSch })).toEqual(first);
      expect((await catalog.findOrigin(idOrg, idSch))?.id_lschma).toBe(first.idLschma);
      expect((await catalog.findOrigin(idOrg, idSch, other.idLschma))?.id_lschma).toBe(other.idLschma);
      // a variant is any that is the same; the default is made anew
      expect((await make(0, true)).idLschma).toBe(shaped.idLschma);
      expect(await make(1, true)).toEqual(first);
      const second = await make(2);
      expect(second.idLschma).toBeGreaterThan(other.idLschma);
      expect((await make(2)).idLschma).toBe(second.idLschma);
      expect(await catalog.listLogicalSchemas(idOrg, idSch)).toEqual(
        [second, other, first, shaped].map(({ idLschma, variant }) => ({ idLschma, variant })),
      );
      expect(await catalog.listLogicalSchemas(await fixture.createOrg(), idSch)).toEqual([]);
    });

    test('statistics are kept per job and merged in the origin', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const [one, two] = [await fixture.createJob(idOrg), await fixture.createJob(idOrg)];
      const save = (idJob: number | null, run: number | string): Promise<void> =>
        catalog.saveStatistics(idOrg, id_sch, idJob, { run }, (earlier) => ({
          runs: [
            ...(earlier as { run?: unknown; runs?: unknown[] }[]).flatMap((each) => each.runs ?? each.run),
            run,
          ],
        }));
      await save(one, 1);
      await save(two, 2);
      await save(two, 'again');
      expect((await catalog.loadOrigin(idOrg, id_sch))?.statistics).toEqual({ runs: [1, 'again'] });
      await save(null, 3);
      expect((await catalog.loadOrigin(idOrg, id_sch))?.statistics).toEqual({ runs: [1, 'again', 3] });
      // none is lost where several end at once
      const more = await Promise.all([4, 5, 6].map(() => fixture.createJob(idOrg)));
      await Promise.all(more.map((idJob, at) => save(idJob, at + 4)));
      const { runs } = (await catalog.loadOrigin(idOrg, id_sch))!.statistics as { runs: unknown[] };
      expect(runs.slice(3).toSorted()).toEqual([4, 5, 6]);
      expect(await catalog.loadStatistics(idOrg, [two, one])).toEqual([{ run: 'again' }, { run: 1 }]);
      expect(await catalog.loadStatistics(idOrg, [])).toEqual([]);
      const other = await catalog.createOrigin(origin(idOrg, { name: 'other' }));
      expect(await catalog.loadJobStatistics(idOrg, id_sch, one)).toEqual({ run: 1 });
      expect(await catalog.loadJobStatistics(idOrg, other.id_sch, one)).toBeNull();
      expect(await catalog.loadJobStatistics(idOrg, id_sch, 987_654_321)).toBeNull();
      expect(await catalog.loadJobStatistics(await fixture.createOrg(), id_sch, one)).toBeNull();
      await expect(catalog.loadStatistics(idOrg, [one, 987_654_321])).rejects.toMatchObject({
        code: 'not_found',
      });
      await expect(catalog.loadStatistics(await fixture.createOrg(), [one])).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('mappings are switched all or none, and stay so in the next logical schema', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      const [first, second] = (await catalog.listMappings(idOrg, idLschma)).filter(
        ({ xpath }) => xpath !== null,
      );
      const ids = [first!.id_map, second!.id_map];
      expect(await catalog.setMappingsActive(idOrg, idLschma, [...ids, ids[0]!], false)).toEqual({
        changed: 2,
        activeCount: 8,
        inactiveCount: 2,
      });
      expect(await catalog.setMappingsActive(idOrg, idLschma, ids, false)).toMatchObject({ changed: 0 });
      for (const [org, id, lines] of [
        [idOrg, idLschma, [ids[0]!, 987_654_321]],
        [await fixture.createOrg(), idLschma, ids],
        [idOrg, 987_654_321, ids],
      ] as const)
        await expect(catalog.setMappingsActive(org, id, lines, true)).rejects.toMatchObject({
          code: 'not_found',
        });
      const inactive = async (id: number) =>
        (await catalog.listMappings(idOrg, id)).filter(({ active }) => !active).map(({ xpath }) => xpath);
      expect(await inactive(idLschma)).toEqual([first!.xpath, second!.xpath]);
      const leftOut = relational.mappings.map((entry) =>
        entry.xpath === '/stays/stay/price' ? { ...entry, column: null, active: false as const } : entry,
      );
      const next = await catalog.createLogicalSchema(
        idOrg,
        id_sch,
        { ...relational, mapLevel: 2, mappings: leftOut },
        null,
      );
      expect((await inactive(next.idLschma)).toSorted()).toEqual(
        [first!.xpath, second!.xpath, '/stays/stay/price'].toSorted(),
      );
      await catalog.setMappingsActive(
        idOrg,
        next.idLschma,
        (await catalog.listMappings(idOrg, next.idLschma)).map(({ id_map }) => id_map),
        true,
      );
      const last = await catalog.createLogicalSchema(idOrg, id_sch, { ...relational, mapLevel: 3 }, null);
      expect(await inactive(last.idLschma)).toEqual([]);
    });

    test('the source model of an origin can learn', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg, { model: emptySourceModel }));
      await catalog.refineOrigin(idOrg, id_sch, stays);
      expect(await catalog.loadOrigin(idOrg, id_sch)).toMatchObject({
        model: stays,
        record: { root_elements: ['stays', 'x:note'], namespaces: { s: 'urn:stay', x: 'urn:x' } },
      });
      for (const [org, id] of [
        [await fixture.createOrg(), id_sch],
        [idOrg, 987_654_321],
      ] as const)
        await expect(catalog.refineOrigin(org, id, stays)).rejects.toMatchObject({ code: 'not_found' });
    });

    test('what a set was compiled to is known until the models change or go', async () => {
      const idOrg = await fixture.createOrg();
      const fingerprint = 'a1'.repeat(32);
      const diagnostics = [
        { code: 'xsd_missing_component', severity: 'warning', message: 'no type x', file: 'a.xsd', line: 3 },
      ] as const;
      const store = async (name: string): Promise<{ idSch: number; idLschma: number }> => {
        const { id_sch: idSch } = await catalog.createOrigin(origin(idOrg, { name }));
        const { idLschma } = await catalog.createLogicalSchema(idOrg, idSch, relational, null);
        await catalog.rememberCompiledSet(idOrg, fingerprint, idLschma, diagnostics);
        return { idSch, idLschma };
      };
      expect(await catalog.findCompiledSet(idOrg, fingerprint)).toBeNull();
      const first = await store('first');
      expect(await catalog.findCompiledSet(idOrg, fingerprint)).toEqual({
        source: stays,
        model: relational,
        diagnostics,
      });
      expect(await catalog.findCompiledSet(await fixture.createOrg(), fingerprint)).toBeNull();
      const other = await fixture.createOrg();
      await catalog.rememberCompiledSet(other, fingerprint, first.idLschma, diagnostics);
      expect(await catalog.findCompiledSet(other, fingerprint)).toBeNull();
      await catalog.refineOrigin(idOrg, first.idSch, emptySourceModel);
      expect(await catalog.findCompiledSet(idOrg, fingerprint)).toBeNull();
      const second = await store('second');
      expect(await catalog.findCompiledSet(idOrg, fingerprint)).not.toBeNull();
      await catalog.removeOrigin(idOrg, second.idSch);
      expect(await catalog.findCompiledSet(idOrg, fingerprint)).toBeNull();
    });

    test('a drawing is kept with its logical schema', async () => {
      const [idOrg, other] = [await fixture.createOrg(), await fixture.createOrg()];
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      expect(await catalog.loadDiagram(idOrg, idLschma)).toBeNull();
      await catalog.saveDiagram(idOrg, idLschma, '<svg/>');
      await catalog.saveDiagram(idOrg, idLschma, '<svg>é</svg>');
      expect(await catalog.loadDiagram(idOrg, idLschma)).toBe('<svg>é</svg>');
      expect(await catalog.loadDiagram(other, idLschma)).toBeNull();
      expect(await catalog.loadDiagram(idOrg, 987_654_321)).toBeNull();
      for (const [org, id] of [
        [other, idLschma],
        [idOrg, 987_654_321],
      ] as const)
        await expect(catalog.saveDiagram(org, id, '<svg/>')).rejects.toMatchObject({ code: 'not_found' });
    });

    test('natural keys belong to all versions of a schema', async () => {
      const [idOrg, other] = [await fixture.createOrg(), await fixture.createOrg()];
      const first = await catalog.createOrigin(origin(idOrg));
      const next = await catalog.createOrigin(origin(idOrg, { idParentSch: first.id_sch }));
      const keys = [
        { tableName: 'stay', columnName: 'price', position: 2 },
        { tableName: 'stay', columnName: 'tags', position: 1 },
        { tableName: 'room', columnName: 'no', position: 1 },
      ];
      expect(await catalog.listNaturalKeys(idOrg, first.id_sch)).toEqual([]);
      await catalog.saveNaturalKeys(idOrg, first.id_sch, keys);
      expect(await catalog.listNaturalKeys(idOrg, next.id_sch)).toEqual([keys[2], keys[1], keys[0]]);
      expect(await catalog.listNaturalKeys(other, next.id_sch)).toEqual([]);
      await catalog.saveNaturalKeys(idOrg, next.id_sch, [keys[1]!]);
      expect(await catalog.listNaturalKeys(idOrg, first.id_sch)).toEqual([keys[1]]);
      for (const [org, id] of [
        [other, first.id_sch],
        [idOrg, 987_654_321],
      ] as const)
        await expect(catalog.saveNaturalKeys(org, id, [])).rejects.toMatchObject({ code: 'not_found' });
    });

    test('an origin is removed with what was made of it, unless a job uses it', async () => {
      const [idOrg, other] = [await fixture.createOrg(), await fixture.createOrg()];
      const first = await catalog.createOrigin(origin(idOrg));
      const next = await catalog.createOrigin(origin(idOrg, { idParentSch: first.id_sch }));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, first.id_sch, relational, null);
      await catalog.saveDiagram(idOrg, idLschma, '<svg/>');
      expect(await catalog.removeOrigin(other, first.id_sch)).toBe(false);
      expect(await catalog.removeOrigin(idOrg, 987_654_321)).toBe(false);
      expect(await catalog.removeOrigin(idOrg, first.id_sch)).toBe(true);
      expect(await catalog.removeOrigin(idOrg, first.id_sch)).toBe(false);
      expect(await catalog.loadLogicalSchema(idOrg, { idLschma })).toBeNull();
      expect(await catalog.loadDiagram(idOrg, idLschma)).toBeNull();
      expect(await catalog.findOrigin(idOrg, next.id_sch)).toMatchObject({
        id_parent_sch: null,
        name: 'stays',
      });
      await expect(catalog.createOrigin(origin(idOrg))).rejects.toMatchObject({ code: 'conflict' });
      await fixture.createJobOf(idOrg, next.id_sch);
      await expect(catalog.removeOrigin(idOrg, next.id_sch)).rejects.toMatchObject({ code: 'conflict' });
      const last = await catalog.createOrigin(origin(idOrg, { name: 'other' }));
      expect(await catalog.removeOrigin(idOrg, last.id_sch)).toBe(true);
      expect((await catalog.createOrigin(origin(idOrg, { name: 'other' }))).version).toBe(1);
    });

    test('a target schema belongs to who loads into it first, and names are counted', async () => {
      const [idOrg, other] = [await fixture.createOrg(), await fixture.createOrg()];
      const target = `lake "${idOrg}"`;
      const claim = async (org: number, name: string, mostNames = 2): Promise<void> =>
        catalog.claimTargetSchema(org, name, { idJob: await fixture.createJob(org), mostNames });
      expect([await catalog.ownsTargetSchema(idOrg, target), await catalog.listTargetSchemas(idOrg)]).toEqual(
        [false, []],
      );
      await claim(idOrg, target);
      await claim(idOrg, target);
      expect(await catalog.ownsTargetSchema(idOrg, target)).toBe(true);
      const refused = { code: 'target_not_owned' };
      await expect(claim(other, target)).rejects.toMatchObject(refused);
      await expect(catalog.ownsTargetSchema(other, target)).rejects.toMatchObject(refused);
      await claim(idOrg, `${target} too`);
      await expect(claim(idOrg, `${target} three`)).rejects.toMatchObject({ code: 'conflict' });
      await claim(idOrg, target);
      const names = (await catalog.listTargetSchemas(idOrg)).map(({ name }) => name);
      expect(names.toSorted()).toEqual([target, `${target} too`]);
      expect(await catalog.removeTargetSchema(other, target)).toBe(false);
      const raced = await Promise.allSettled([claim(idOrg, 'raced', 9), claim(other, 'raced', 9)]);
      expect(raced.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      for (const reserved of ['svc', 'public', 'pg_toast', 'information_schema', '', 'x'.repeat(64)])
        await expect(claim(idOrg, reserved, 9)).rejects.toMatchObject({ code: 'invalid_parameter' });
    });
  });
}
