/** What a catalog store keeps of the use of its models: statistics, mappings that are off, drawings, natural keys, targets. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CatalogStore } from '../../../../src/ports/stores/catalog.ts';
import { emptySourceModel, stays, relational, origin, type CatalogStoreFixture } from './models.ts';

export function describeUses(name: string, open: () => Promise<CatalogStoreFixture>): void {
  describe(`${name} as a catalog store`, () => {
    let fixture: CatalogStoreFixture;
    let catalog: CatalogStore;
    beforeAll(async () => {
      fixture = await open();
      catalog = fixture.store;
    });
    afterAll(() => fixture.close());

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

    test('what a model was drawn from is known until the models change or go', async () => {
      const [idOrg, other] = [await fixture.createOrg(), await fixture.createOrg()];
      const { id_sch: idSch } = await catalog.createOrigin(origin(idOrg));
      const find = (print: string): Promise<number | null> => catalog.findDrawnSchema(idOrg, idSch, print);
      const prints = Array.from({ length: 40 }, (_, at) => `${at}`.padStart(64, 'a'));
      const [first, second] = [prints[0]!, prints[1]!];
      const { idLschma } = await catalog.createLogicalSchema(idOrg, idSch, relational, null, true);
      expect(await find(first)).toBeNull();
      await catalog.rememberDrawnSchema(idOrg, idLschma, [first, second]);
      expect([await find(first), await find(second), await find(prints[2]!)]).toEqual([
        idLschma,
        idLschma,
        null,
      ]);
      await catalog.rememberDrawnSchema(other, idLschma, [prints[2]!]);
      expect(await find(prints[2]!)).toBeNull();
      expect(await catalog.findDrawnSchema(other, idSch, first)).toBeNull();
      expect(await catalog.findDrawnSchema(idOrg, 987_654_321, first)).toBeNull();
      // the same model as the default of the origin comes before
      const wider = await catalog.createLogicalSchema(idOrg, idSch, { ...relational, mapLevel: 3 }, null);
      const same = await catalog.createLogicalSchema(idOrg, idSch, relational, null);
      expect(await find(first)).toBe(same.idLschma);
      await catalog.rememberDrawnSchema(idOrg, wider.idLschma, prints);
      expect([await find(prints[7]!), await find(prints[8]!)]).toEqual([null, wider.idLschma]);
      await catalog.refineOrigin(idOrg, idSch, emptySourceModel);
      expect([await find(first), await find(prints[8]!)]).toEqual([null, null]);
      await catalog.rememberDrawnSchema(idOrg, wider.idLschma, [first]);
      await catalog.removeOrigin(idOrg, idSch);
      expect(await find(first)).toBeNull();
      await catalog.rememberDrawnSchema(idOrg, wider.idLschma, [first]);
      expect(await find(first)).toBeNull();
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
      const claim = async (org: number, name: string, maxNames = 2): Promise<void> =>
        catalog.claimTargetSchema(org, name, { idJob: await fixture.createJob(org), maxNames });
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
