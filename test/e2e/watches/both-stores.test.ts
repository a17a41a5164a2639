/** The same watch over two S3 servers of different makers: more keys than a page has, odd ones among them, and an object of several parts. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { ObjectStore } from '../../../src/ports/files.ts';
import { isHere, skipFor, type Part } from '../../support/needs.ts';
import { s3Programs, startS3Server, type S3Program, type S3Server } from '../../support/servers/s3-server.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

/** of two makers; one of them alone is an S3 server, too */
const lacking: Readonly<Record<S3Program, Part>> = { versitygw: 'versitygw', moto_server: 's3 server' };

/** more than a page has, or fewer */
const many = isHere('whole run') ? 1005 : 40;
const odd = [
  'a b+c%20d #1?.xml',
  'ü/ß & <so> \'quoted\' "twice".xml',
  'u\u0308 is not ü.xml',
  '(1)!*~=,;:@$.xml',
  '日本/😀.xml',
  '%2e%2e/%2F.xml',
  'a../b..xml',
];
const order = (id: number, lines = 0): string =>
  `<order><id>${id}</id>${'<line>0123456789 0123456789 0123456789 0123456789</line>'.repeat(lines)}</order>`;
/** more than one part of an upload has, or fewer */
const lines = isHere('whole run') ? 340_000 : 10;

describe.each(s3Programs)('a bucket of %s that is watched', { timeout: 240_000 }, (program) => {
  const trial = useTrial();
  let server: S3Server | null = null;
  let home: ServiceHome;
  let service: RunningService;
  let watches: WatchClient;
  let store: ObjectStore;
  let sql: Sql;
  let place: string;
  const ids = async (): Promise<number[]> =>
    (await sql`select id::int as id from watched."order" order by 1`).map((row) => row['id'] as number);

  beforeAll(async () => {
    server = await startS3Server(program);
    if (server === null) return;
    trial.keep(server, (one) => one.end());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = server.settings;
    place = `s3://${bucket}/in box+/`;
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.sources.inbox.location': `s3://${bucket}/in box+`,
      'svc.sources.inbox.endpoint': endpoint,
      'svc.sources.inbox.access_key': accessKeyId,
      'svc.sources.inbox.secret_key': secretAccessKey,
    });
    store = createS3ObjectStore(server.settings);
    service = await trial.service(home);
    watches = watchClient(service.client);
    sql = await trial.metadb(home);
  }, 60_000);

  const put = async (name: string, text: string): Promise<void> => {
    await store.write(`in box+/${name}`, new Blob([text]).stream() as ReadableStream<Uint8Array>);
  };
  const reached = (id: number, wanted: Readonly<Record<string, string>>): Promise<unknown> =>
    eventually(
      `${JSON.stringify(wanted)}`,
      async () => {
        const found = await watches.files(id);
        return Object.entries(wanted).every(
          ([name, state]) => found.find((file) => file.name === name)?.status === state,
        )
          ? true
          : null;
      },
      100,
      2000,
    );

  it('loads each object once by its name, takes back what is gone, and gives a prefix its rows', async (context) => {
    if (server === null) return skipFor(context, lacking[program], `${program} is not here`);
    for (let at = 0; at < many; at += 40)
      await Promise.all(
        Array.from({ length: Math.min(40, many - at) }, (_, one) =>
          put(`many/${at + one}.xml`, order(at + one)),
        ),
      );
    for (const [at, name] of odd.entries()) await put(name, order(2000 + at));
    await put('large.xml', order(3000, lines));
    // beside the prefix
    await store.write('in box+2/a.xml', new TextEncoder().encode(order(9)));
    const last = `many/${many - 1}.xml`;
    const all = many + odd.length + 1;
    const { id_watch: id } = await watches.create({
      name: 'bucket',
      location: place,
      target: 'metadb:watched',
      options: { '-S': 'm', '--delete-missing': true },
      pattern: '**/*.xml',
      every: '1s',
      settle: '0s',
      max_files: 5000,
    });
    const files = await watches.settled(id, all);
    expect(files.filter(({ status }) => status !== 'loaded')).toEqual([]);
    expect(
      files
        .map(({ name }) => name)
        .toSorted()
        .slice(0, 3),
    ).toEqual(
      [...odd, 'large.xml', ...Array.from({ length: many }, (_, at) => `many/${at}.xml`)]
        .toSorted()
        .slice(0, 3),
    );
    expect(files).toHaveLength(all);
    if (isHere('whole run'))
      expect(files.find(({ name }) => name === 'large.xml')!.version).toMatch(/-\d+"$/);
    expect(await ids()).toEqual([
      ...Array.from({ length: many }, (_, at) => at),
      ...odd.map((_, at) => 2000 + at),
      3000,
    ]);
    const names = (await sql`select name from watched._documents`).map((row) => row['name'] as string);
    expect(names.toSorted()).toEqual(files.map(({ name }) => name).toSorted());

    for (const name of [odd[0]!, odd[2]!, 'many/7.xml', last]) await store.removeObject(`in box+/${name}`);
    await put('large.xml', order(3001, lines));
    await put(odd[1]!, order(2101));
    await reached(id, {
      [odd[0]!]: 'ignored',
      [odd[2]!]: 'ignored',
      'many/7.xml': 'ignored',
      [last]: 'ignored',
    });
    await watches.settled(id, all + 2);
    const left = Array.from({ length: many }, (_, at) => at).filter((at) => at !== 7 && at !== many - 1);
    const expected = [...left, 2003, 2004, 2005, 2006, 2101, 3001];
    expect(await ids()).toEqual(expected);

    await convert(home, 'xml2er', place, '-o', 'metadb:prefix');
    const rows = await sql`select id::int as id from prefix."order" order by 1`;
    expect(rows.map((row) => row['id'] as number)).toEqual(expected);
    const [count] = await sql`select count(*)::int as n from prefix.line`;
    expect(count!['n']).toBe(lines);
    await convert(home, 'xml2er', `${place}${odd[4]!}`, '-o', 'metadb:single');
    expect((await sql`select id::int as id from single."order"`).map((row) => row['id'] as number)).toEqual([
      2004,
    ]);
  });
});
