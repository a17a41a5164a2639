/** Stores and servers of SFTP that refuse, cut, lie and change what they serve: as whole jobs and by hand, the right rows, or why not and nothing published. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { isHere, some } from '../../support/needs.ts';
import { lyingSftp } from '../../contracts/sftp/lying-sftp.ts';
import {
  startObjectServer,
  type ObjectServer,
  type StoreFault,
} from '../../support/servers/object-server.ts';
import { execution, type ServiceClient } from '../../support/service/client.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

/** large enough to be sent in parts */
const count = 9000;
const whole = `<orders>${Array.from({ length: count }, (_, id) => `<order><id>${id}</id></order>`).join('')}</orders>`;
const canary = 'c4nary-key-of-a-store';
const password = 'c4nary-password-of-a-server';

/**
 * How an object is served the n-th time, as a whole or from a place on, and what a load of it says; null: all rows are there. A cut may lose all that
 * was sent before it: then the whole is asked for again.
 */
type Served = readonly [fault: (number: number, isRange: boolean) => StoreFault, says: RegExp | null];

const told = (headers: Record<string, string | number>, body: string, status = 200): StoreFault => ({
  told: () => ({ status, headers, body }),
});
const refused = (code: number): StoreFault => ({ at: 'before', answer: code });
const tag = { ETag: '"1"' };
const part = (from: number, etag: string, status = 206): StoreFault =>
  told(
    { ETag: etag, 'Content-Range': `bytes ${from}-${whole.length - 1}/${whole.length}` },
    whole.slice(from),
    status,
  );
/** Half of it, behind which the connection ends. */
const half = (etag = '"1"'): StoreFault =>
  told({ ETag: etag, 'Content-Length': whole.length, Connection: 'close' }, whole.slice(0, 100_000));

const objects: Readonly<Record<string, Served>> = {
  'has no time at first (SlowDown)': [(number) => (number < 3 ? refused(503) : null), null],
  'never has time (SlowDown)': [() => refused(503), /cannot be read now \(status 503\); nothing was loaded/],
  'fails for ever (500)': [() => refused(500), /cannot be read now \(status 500\); nothing was loaded/],
  'hangs up for ever': [
    () => ({ at: 'before', answer: 'hang up' }),
    /cannot be read now \(ECONNRESET\); nothing was loaded/,
  ],
  'forbids what it lists': [() => refused(403), /may not be read \(status 403\).*svc\.sources/],
  'lists what is not there': [() => refused(404), /there is no such file \(status 404\)/],
  'answers a range with the whole (200)': [(number) => (number === 1 ? half() : told(tag, whole)), null],
  'answers a range with another one': [
    (_, isRange) => (isRange ? part(0, '"1"') : half()),
    /changed while it was read, so nothing was loaded; run the job again/,
  ],
  'has another ETag behind a cut': [
    (_, isRange) => (isRange ? part(100_000, '"2"') : half()),
    /changed while it was read, so nothing was loaded; run the job again/,
  ],
  'answers another object whole behind a cut': [
    (_, isRange) => (isRange ? told({ ETag: '"2"' }, whole) : half()),
    /changed while it was read, so nothing was loaded; run the job again/,
  ],
  'tells no length, and cuts': [
    () => told({ ...tag, 'Transfer-Encoding': 'identity', Connection: 'close' }, `${whole.slice(0, 50_000)}`),
    /cannot be read now \(it ended after \d+ of \d+ bytes\); nothing was loaded|changed while it was read/,
  ],
  'is a page of the web': [
    () => told({ 'Content-Type': 'text/html' }, '<!doctype html><p>Log in<br>'),
    /line 1, column \d+: |changed while|cannot be read now/,
  ],
};

/** Folders of a server of SFTP, and what a load says. */
const folders: Readonly<Record<string, RegExp | null>> = {
  whole: null,
  cuts: null,
  breaks: /breaks\/a\.xml: cannot be reached now \(the connection ended\)/,
  short: /changed while it was read, so nothing was loaded; run the job again/,
  grows: /changed while it was read, so nothing was loaded; run the job again/,
  refuses: /may not be read by this user/,
  lists: /there is no such file or folder/,
};

describe('a store that', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let client: ServiceClient;
  let store: ObjectServer;
  let sql: Sql;
  let path: string;
  const asked = new Map<string, number>();
  const names = Object.keys(objects);
  const texts: string[] = [];

  beforeAll(async () => {
    store = trial.keep(await startObjectServer(), (one) => one.end());
    for (const at of names.keys()) store.put(`${at}/a.xml`, whole);
    store.setFaults(({ key, isRange }) => {
      const at = Number(/^(\d+)\/a\.xml$/.exec(key)?.[1] ?? -1);
      if (at < 0) return null;
      asked.set(key, (asked.get(key) ?? 0) + 1);
      return objects[names[at]!]![0](asked.get(key)!, isRange);
    });
    path = await lyingSftp(await trial.folder('lying-sftp-'), whole);
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.sources.store.location': `s3://${store.settings.bucket}/`,
      'svc.sources.store.endpoint': store.settings.endpoint,
      'svc.sources.store.access_key': 'A',
      'svc.sources.store.secret_key': canary,
      'svc.sources.server.location': 'sftp://ann@127.0.0.1/',
      'svc.sources.server.password': password,
    });
    const service = await trial.service(home, { PATH: path });
    client = service.client;
    sql = await trial.metadb(home);
  });

  /** `rows`: of the table of orders, null where there is none. */
  const rowsOf = async (sqlSchema: string): Promise<number | null> => {
    const [there] =
      await sql`select 1 from pg_tables where schemaname = ${sqlSchema} and tablename = 'order'`;
    if (there === undefined) return null;
    const [found] = await sql`select count(distinct id)::int as n from ${sql(sqlSchema)}."order"`;
    return found!['n'] as number;
  };
  let serial = 0;
  const check = async (how: 'by hand' | 'as a job', input: string, says: RegExp | null): Promise<void> => {
    const sqlSchema = `load_${(serial += 1)}`;
    let text: string;
    let isWell: boolean;
    if (how === 'by hand') {
      const run = await runTool(home, 'xml2er', [input, '-o', `metadb:${sqlSchema}`], '', { PATH: path });
      text = run.stdout + run.stderr;
      isWell = run.code === 0;
    } else {
      const job = (await client.run([execution('xml2er', input, [['-o', `metadb:${sqlSchema}`]])])).jobs[0]!;
      // what may pass is tried again later: one attempt is enough here
      const record = await client.ended(job);
      text =
        JSON.stringify(record) + (await (await client.fetch(`/v2/executions/log/${job}?tail=500`)).text());
      isWell = record.status === 'C';
    }
    texts.push(text);
    expect([isWell, await rowsOf(sqlSchema)]).toEqual(says === null ? [true, count] : [false, null]);
    if (says !== null) expect(text).toMatch(says);
  };
  const passing = /SlowDown|500|hangs up|breaks|cuts$/;
  const cases = (
    all: readonly string[],
    most: number,
  ): readonly (readonly [string, 'by hand' | 'as a job'])[] => [
    ...some(all, most).map((name) => [name, 'by hand'] as const),
    // a job tries again later what may pass, so that these take long
    ...all
      .filter((name) => isHere('whole run') || !passing.test(name))
      .slice(0, isHere('whole run') ? undefined : most)
      .map((name) => [name, 'as a job'] as const),
  ];

  it.each(cases(names.slice(4), 6))('%s: %s', async (name, how) => {
    const at = names.indexOf(name);
    asked.delete(`${at}/a.xml`);
    await check(how, `s3://${store.settings.bucket}/${at}/a.xml`, objects[name]![1]);
  });

  it.each(some(names.slice(0, 4), 1))('%s: by hand', async (name) => {
    await check('by hand', `s3://${store.settings.bucket}/${names.indexOf(name)}/`, objects[name]![1]);
  });

  it.each(cases(Object.keys(folders), 4))(
    'is a server of SFTP whose folder is called %s: %s',
    async (name, how) => {
      await check(how, `sftp://ann@127.0.0.1/${name}/`, folders[name]!);
    },
  );

  it('makes no text tell a secret, or what a server says', async () => {
    expect(texts.length).toBeGreaterThan(0);
    const log = await readFile(join(home.directory, 'logs', 'service.log'), 'utf8').catch(() => '');
    for (const secret of [canary, password, 'c4nary of the server'])
      expect([...texts, log].join('\n')).not.toContain(secret);
  });
});
