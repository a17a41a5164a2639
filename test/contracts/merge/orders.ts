/** Orders, and merges of them as the tool does them, for tests of `-S m`. */
import { expect } from 'vitest';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { DocumentVersions } from '../../../src/engine/sql/loaded-documents.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { requestDefaults } from '../../../src/service/jobs/request/tool-request.ts';
import type { Published, RowSink } from '../../../src/ports/row-sink.ts';
import type { RowSource } from '../../../src/ports/row-source.ts';
import { documentTest } from '../../../src/inputs/document-names.ts';
import { openInputs } from '../../../src/inputs/list-files.ts';
import { createRejects } from '../../../src/tools/load/findings.ts';
import { Loader, type LoaderSession } from '../../../src/tools/load/row-loader.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { compiled, modelOf } from '../../support/models/shredding.ts';
import { writeDocuments } from '../../support/round-trip/in-memory.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="customer" type="xs:string"/>
    <xs:element name="tags" minOccurs="0"><xs:simpleType><xs:list itemType="xs:token"/></xs:simpleType></xs:element>
    <xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="quantity" type="xs:decimal"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="id" type="xs:string"/></xs:complexType></xs:element>
  <xs:complexType name="Part"><xs:sequence><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType>
</xs:schema>`);

export const orderModel: RelationalModel = modelOf(source, 3);

/** Numbers that look random and are the same in every run (Park and Miller). */
export function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => (state = (state * 48_271) % 2_147_483_647) % sides;
}

export function orderOf(id: string, dice: (sides: number) => number): string {
  const lines = Array.from({ length: dice(4) }, () => {
    const number = dice(100);
    return `<line><quantity>${number}.${dice(10)}</quantity><part no="${number}"><part no="${-number}"/></part></line>`;
  });
  const tags = dice(2) === 0 ? '' : `<tags>a${dice(9)} b${dice(9)}</tags>`;
  const odd = dice(3) === 0 ? '<remark>odd</remark>' : '';
  return `<order id="${id}"><customer>customer ${dice(10_000)}</customer>${tags}${lines.join('')}${odd}</order>`;
}

export interface MergeTarget {
  /** absent: as a load makes them */
  readonly indexes?: 'none';
  createSink(): RowSink;
  createSource(): RowSource;
  /** rows of a view */
  count(view: string): Promise<number>;
}

/** One job, as the tool does it. */
export async function mergeFolder(
  { createSink, indexes }: MergeTarget,
  model: RelationalModel,
  folder: string,
  idJob: number,
  more: { readonly history?: true; readonly deleteMissing?: true },
): Promise<Published & { readonly loaded: number; readonly unchanged: number }> {
  const sink = createSink();
  const session: LoaderSession = {
    request: { ...requestDefaults, tool: 'xml2er', saveMode: 'merge', key: '/order/@id', ...more },
    limits: defaultEngineLimits,
    kernels: createTokenizerKernels(),
    idJob,
    jobUuid: uuidOfJob(idJob),
    byHand: true,
    log: () => undefined,
    progress: () => undefined,
  };
  try {
    const plan = { model, saveMode: 'merge', idJob, idSch: 1, idLschma: 1, allTables: false } as const;
    const names = { jobUuid: uuidOfJob(idJob), modelHash: hashOfLogical(1) };
    await sink.open({ ...plan, ...names, keys: 'sequence', ...(indexes === undefined ? {} : { indexes }) });
    const inputs = await openInputs([folder], documentTest(false));
    const rejects = createRejects(() => undefined);
    const logical = { idSch: 1, idLschma: 1, model } as ConstructorParameters<typeof Loader>[1];
    const options = { withStatistics: false, rowTag: null, rejects };
    const loader = new Loader(session, logical, sink, options, await sink.keyOffsets(), 0);
    await loader.leaveOutLoaded(inputs, false);
    for await (const member of inputs.members()) await loader.load(member);
    await loader.flush();
    const published = await sink.publish(async () => true, loader.lastKeys(), loader.known.merge);
    return { ...published, loaded: loader.findings().documents, unchanged: loader.skipped };
  } catch (error) {
    await sink.abort();
    throw error;
  } finally {
    await sink.close();
  }
}

/** By id, all documents of a version. */
export async function written(
  reader: RowSource,
  model: RelationalModel,
  versions?: DocumentVersions,
): Promise<ReadonlyMap<string, readonly Uint8Array[]>> {
  const found = new Map<string, Uint8Array[]>();
  try {
    await reader.open(model);
    const keys = (await Array.fromAsync(reader.documents(undefined, versions))).map(({ key }) => key);
    expect(await reader.documentCount(undefined, versions)).toBe(keys.length);
    for (const key of keys) {
      const [document] = await writeDocuments(model, await reader.rowsOf(key), [key]);
      const id = /\bid="([^"]*)"/.exec(Buffer.from(document!).toString('utf8'))![1]!;
      found.set(id, [...(found.get(id) ?? []), document!]);
    }
  } finally {
    await reader.close();
  }
  return found;
}

export function expectSame(
  there: ReadonlyMap<string, readonly Uint8Array[]>,
  model: ReadonlyMap<string, string>,
): void {
  expect([...there].map(([id, { length }]) => [id, length]).toSorted()).toEqual(
    [...model.keys()].map((id) => [id, 1]).toSorted(),
  );
  for (const [id, text] of model)
    expect([id, compareXml(Buffer.from(text), there.get(id)![0]!, { source })]).toEqual([id, []]);
}
