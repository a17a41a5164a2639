/** Origins and logical schemas: kept, read, and whose they are. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Column, ColumnRole, Table } from '../../../../src/engine/model/relational-model.ts';
import type { CatalogStore } from '../../../../src/ports/stores/catalog.ts';
import { stays, column, table, relational, origin, type CatalogStoreFixture } from './models.ts';

/** A column that describes the element at a path. */
const describing = (role: ColumnRole, name: string, xpath: string, path = xpath): Column =>
  column(name, role, {
    xpath,
    path,
    type: { kind: role === 'nil' ? 'boolean' : 'text' },
    nullable: true,
  });

export function describeModels(name: string, open: () => Promise<CatalogStoreFixture>): void {
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
      for (const bad of ['', 'group', 'a/b', '.', '..']) {
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

    test('a summary of each model is stored with it', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch, name } = await catalog.createOrigin(origin(idOrg));
      const empty = await catalog.createOrigin(origin(idOrg, { name: 'empty' }));
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, relational, null);
      expect(await catalog.listOriginVersions(idOrg)).toEqual([
        {
          id_sch: empty.id_sch,
          id_parent_sch: null,
          name: 'empty',
          version: 1,
          id_lschma: null,
          table_count: 0,
          sequence_count: null,
          key_count: null,
        },
        {
          id_sch,
          id_parent_sch: null,
          name,
          version: 1,
          id_lschma: idLschma,
          table_count: 2,
          sequence_count: 2,
          key_count: 5,
        },
      ]);
      const summary = {
        tables: [
          { name: 'stays', xpath: '/stays', columnCount: 2, rowKey: 'stays_key' },
          { name: 'stay', xpath: '/stays/stay', columnCount: 6, rowKey: 'stay_key' },
        ],
        keyCount: 5,
      };
      expect(await catalog.listModelSummaries(idOrg, [idLschma, 999_999])).toEqual(
        new Map([[idLschma, summary]]),
      );
      const other = await fixture.createOrg();
      expect(await catalog.listOriginVersions(other)).toEqual([]);
      expect(await catalog.listModelSummaries(other, [idLschma])).toEqual(new Map());
    });

    test('columns that describe an element have a mapping each, with its path', async () => {
      const idOrg = await fixture.createOrg();
      const { id_sch } = await catalog.createOrigin(origin(idOrg));
      const [stays, stay] = relational.tables as [Table, Table];
      const columns = [
        ...stay.columns,
        describing('element_name', 'role', '/stays/stay', '/stays/stay/(role)'),
        describing('element_name', 'guest_element', '/stays/stay/guest'),
        describing('type_name', 'type', '/stays/stay'),
        describing('nil', 'guest_nil', '/stays/stay/guest'),
        column('loaded', 'extra', { type: { kind: 'timestamptz' } }),
      ];
      const model = { ...relational, tables: [stays, { ...stay, columns }] };
      const { idLschma } = await catalog.createLogicalSchema(idOrg, id_sch, model, null);
      const mappings = (await catalog.listMappings(idOrg, idLschma)).slice(-5);
      expect(
        mappings.map((line) => [
          line.column_name,
          line.xpath,
          line.node_type,
          line.source_type,
          line.min_occurs,
        ]),
      ).toEqual([
        ['role', '/stays/stay', null, 'role', 0],
        ['guest_element', '/stays/stay/guest', null, 'element name', 0],
        ['type', '/stays/stay', null, 'xsi:type', 0],
        ['guest_nil', '/stays/stay/guest', null, 'xsi:nil', 0],
        ['loaded', null, null, '', 1],
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
  });
}
