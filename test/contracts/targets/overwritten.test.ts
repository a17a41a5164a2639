/** Save mode `o` by the next version of a model, which lacks tables of the one before: documents go whole, in every target the same. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { mysql } from '../../../src/engine/sql/dialects/mysql.ts';
import { withListTables } from '../../../src/engine/sql/list-tables.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import type { SinkPlan } from '../../../src/ports/row-sink.ts';
import { bytesOf, compiled } from '../../support/models/shredding.ts';
import { needs } from '../../support/needs.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { mariadbTarget, targetKinds, type TestTarget } from '../row-sinks/targets.ts';

const witness = '<xs:element name="witness" type="Witness" minOccurs="0" maxOccurs="9"/>';
const alias = '<xs:element name="alias" type="Alias" minOccurs="0" maxOccurs="9"/>';
const marks = '<xs:element name="marks" type="Marks" minOccurs="0"/>';
const repeated = (name: string, content: string): string =>
  `<xs:element name="${name}" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`;
/** `more`: children of a deed; `ofWitness`: of a witness; `roots`: further elements that documents may be of. */
const deeds = (more: string, ofWitness = '', roots = ''): SourceModel =>
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="Witness"><xs:sequence><xs:element name="name" type="xs:string"/>${ofWitness}</xs:sequence></xs:complexType>
    <xs:complexType name="Alias"><xs:sequence><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType>
    <xs:simpleType name="Marks"><xs:list itemType="xs:int"/></xs:simpleType>
    <xs:complexType name="Page"><xs:sequence><xs:element name="line" type="xs:string" maxOccurs="9"/></xs:sequence></xs:complexType>
    <xs:element name="file"><xs:complexType><xs:sequence>${repeated('deed', `<xs:element name="title" type="xs:string"/>${witness}${more}`)}</xs:sequence></xs:complexType></xs:element>
    ${roots}</xs:schema>`);

const annex = repeated(
  'annex',
  `<xs:element name="no" type="xs:int"/>${marks}<xs:element name="page" type="Page" maxOccurs="9"/>${witness}`,
);
const memo = `<xs:element name="memo"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/><xs:element name="copy" type="xs:string" maxOccurs="9"/>${marks}${alias}${witness}</xs:sequence></xs:complexType></xs:element>`;
const firstModel = buildRelationalModel(deeds(marks + annex, alias, memo), { mapLevel: 3 });
const secondModel = buildRelationalModel(deeds(''), { mapLevel: 3, previous: firstModel });
const otherModel = buildRelationalModel(
  compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="note"><xs:complexType><xs:sequence><xs:element name="word" type="xs:string" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  ),
  { mapLevel: 3 },
);

const file = (title: string): Uint8Array =>
  bytesOf(
    `<file><deed><title>${title}</title><witness><name>${title} w</name><alias><text>q</text></alias></witness><marks>1 2 3</marks><annex><no>1</no><marks>4 5</marks><page><line>a</line><line>b</line></page><page><line>c</line></page><witness><name>${title} v</name></witness></annex></deed></file>`,
  );
const plain = (title: string): Uint8Array =>
  bytesOf(`<file><deed><title>${title}</title><witness><name>${title} w</name></witness></deed></file>`);
const note = bytesOf('<note><word>x</word><word>y</word></note>');
const memoOf = (text: string, more = ''): Uint8Array =>
  bytesOf(
    `<memo><text>${text}</text><copy>c</copy><copy>d</copy><marks>6 7</marks><alias><text>r</text></alias>${more}</memo>`,
  );
const witnessed = '<witness><name>s</name><alias><text>t</text></alias></witness>';

const models = [firstModel, secondModel, otherModel];
const names = [...new Set(models.flatMap(({ tables }) => tables.map(({ name }) => name)))];
/** where a database has tables for the items of lists */
const listNames = [
  ...new Set(models.flatMap((model) => withListTables(model, mysql).model.tables.map(({ name }) => name))),
].filter((name) => !names.includes(name));

interface TargetTraits {
  /** a file is of one job */
  readonly filesOfJobs: boolean;
  /** items of lists have tables */
  readonly hasListTables: boolean;
}

function everyTarget(
  targetOf: (name: string) => TestTarget,
  { filesOfJobs, hasListTables }: TargetTraits,
): void {
  test('documents of an earlier version go whole, and those of others stay', async () => {
    const target = targetOf('old');
    let job = 0;
    const load = (plan: Pick<SinkPlan, 'model'> & Partial<SinkPlan>, ...documents: readonly Uint8Array[]) =>
      loadInto(target.createSink(), { idJob: (job += 1), ...plan }, documents, `job ${job}`);
    const counts = async (): Promise<Readonly<Record<string, number>>> => {
      const found: Record<string, number> = {};
      for (const name of [...names, ...listNames]) {
        const rows = (await target.reader.read(name)) ?? [];
        if (rows.length > 0) found[name] = rows.length;
      }
      return found;
    };
    const documents = async (): Promise<readonly (string | null)[]> =>
      ((await target.reader.read('_documents')) ?? []).map(({ name }) => name!).toSorted();

    await load({ model: firstModel, idLschma: 1 }, file('a'), memoOf('m'));
    await load({ model: otherModel, idLschma: 9 }, note);
    await load({ model: secondModel, idLschma: 2 }, plain('b'));
    await load({ model: firstModel, idLschma: 1 }, memoOf('n'));
    await load({ model: firstModel, idLschma: 1 }, memoOf('o', witnessed));
    expect(await documents()).toHaveLength(6);
    await load({ model: secondModel, idLschma: 2, saveMode: 'overwrite' }, plain('c'));
    // a file is of one job, and goes with all of its documents
    const kept = filesOfJobs ? ['job 2-1.xml', 'job 4-1.xml'] : ['job 1-2.xml', 'job 2-1.xml', 'job 4-1.xml'];
    const memos = kept.length - 1;
    const others = {
      memo: memos,
      copy: 2 * memos,
      alias: memos,
      note: 1,
      word: 2,
      ...(hasListTables ? { memo_marks: 2 * memos } : {}),
    };
    expect(await documents()).toEqual([...kept, 'job 6-1.xml']);
    expect(await counts()).toEqual({ file: 1, deed: 1, witness: 1, ...others });
    // what is left takes rows again
    await load({ model: firstModel, idLschma: 1 }, file('d'));
    expect(await counts()).toEqual({
      file: 2,
      deed: 2,
      witness: 3,
      annex: 1,
      page: 2,
      line: 3,
      ...others,
      alias: memos + 1,
      ...(hasListTables ? { deed_marks: 3, annex_marks: 2 } : {}),
    });
    await load({ model: secondModel, idLschma: 2, saveMode: 'overwrite' }, plain('e'));
    expect(await documents()).toEqual([...kept, 'job 8-1.xml']);
    expect(await counts()).toEqual({ file: 1, deed: 1, witness: 1, ...others });
    expect(((await target.reader.read('_lexical')) ?? []).length).toBe(0);
  });
}

const trial = useTrial();
let database: TestDatabase;
let folders = '';
beforeAll(async () => {
  database = await trial.emptyDatabase();
  folders = await mkdtemp(join(tmpdir(), 'overwritten-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));

describe.each(targetKinds(() => ({ database, folders })))('%s', (kind, targetOf) =>
  everyTarget(targetOf, {
    filesOfJobs: /^folder of (csv|tsv|jsonl|parquet)$/.test(kind),
    hasListTables: kind === 'sqlite',
  }),
);

describe('mariadb', needs(mariadbParts), () => {
  let server: TestMariadb;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run('CREATE DATABASE old;');
  });
  afterAll(() => server?.stop());
  everyTarget((name) => mariadbTarget(() => server, name), { filesOfJobs: false, hasListTables: true });
});
