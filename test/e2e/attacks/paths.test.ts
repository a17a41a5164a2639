/** Strangers' paths, names, values, encodings and archives, run as jobs of a real service; the numbers are those of the threat list. */
import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { overlappingZip, zipped } from '../../support/service/archives.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { execution, type JobAnswer, type Options, type RunAnswer } from '../../support/service/client.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const canary = 'c4nary-7f3b-of-the-host';
const schemaOf = (content: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${content}</xs:schema>`;
const mebibyte = 1024 * 1024;
/** names that only look like ways out: they lie below the organisation's own folder */
const harmless = /^(\.\.\\x|%2e|~|\\\\|\u2025|\.$|uploads\/%2e|file:)/;
const accented = '<r><v>é ß ü</v></r>';

const utf16 = (big: boolean, mark: boolean): Uint8Array => {
  const source = `${mark ? '\uFEFF' : ''}<?xml version="1.0" encoding="UTF-16"?>${accented}`;
  const bytes = Buffer.from(source, 'utf16le');
  return new Uint8Array(big ? bytes.swap16() : bytes);
};
const single = (name: string): Uint8Array =>
  new Uint8Array(Buffer.from(`<?xml version="1.0" encoding="${name}"?>${accented}`, 'latin1'));

describe('attacks by paths, names, values and archives', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let outside: string;
  let root: string;
  let listener: Server;
  let heard: string[];

  beforeAll(async () => {
    outside = await mkdtemp(join(tmpdir(), 'outside-'));
    root = await mkdtemp(join(tmpdir(), 'root-'));
    await writeFile(join(outside, 'canary.txt'), canary);
    await writeFile(join(outside, 'canary.dtd'), `<!ENTITY x "${canary}">`);
    await writeFile(
      join(outside, 'canary.xsd'),
      schemaOf(`<xs:element name="${canary.replaceAll('-', '_')}" type="xs:string"/>`),
    );
    heard = [];
    listener = createServer((request, answer) => {
      heard.push(request.url ?? '');
      answer.end(canary);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.files.roots': root,
      'svc.allow.hosts': '*',
    });
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  afterAll(async () => {
    listener?.close();
    for (const folder of [outside, root]) await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    expect(heard).toEqual([]);
    expect((await fetch(`${service.url}/actuator/health/readiness`)).status).toBe(200);
  });

  // what lies beside the uploads
  const unpacked = async () =>
    (await readdir(join(home.directory, 'files', '1'), { recursive: true })).filter(
      (name) => !name.startsWith('uploads'),
    );

  async function submit(tool: string, path: string, options: Options = []): Promise<number> {
    return (await service.client.run([execution(tool, path, options)])).jobs[0]!;
  }

  async function ended(tool: string, path: string, options: Options = []): Promise<JobAnswer> {
    return service.client.ended(await submit(tool, path, options));
  }

  async function job(
    kind: 'xml' | 'xsd',
    name: string,
    bytes: Uint8Array | string,
    options: Options = [],
  ): Promise<JobAnswer> {
    const path = await service.client.upload(
      kind,
      name,
      typeof bytes === 'string' ? utf8.encode(bytes) : bytes,
    );
    return ended(kind === 'xml' ? 'xml2er' : 'xsd2er', path, options);
  }

  /** The job failed for a reason that is told, and nothing of the host stands in its record or log. */
  async function failed(done: JobAnswer, reason: RegExp = /./): Promise<void> {
    expect([done.status, done.failure]).toEqual(['F', expect.stringMatching(reason)]);
    expect(done.failure).not.toMatch(/unexpected fault|node_modules|\.ts:\d/);
    const shown = JSON.stringify(done) + (await service.client.log(done.id_job));
    expect(shown).not.toContain(canary);
    expect(shown).not.toMatch(/root:x:0|at \w+ \(/);
  }

  it('16: paths that lead out, in every field that takes one: refused, and nothing opened outside', async () => {
    const good = await service.client.upload('xml', 'a.xml', utf8.encode('<a>1</a>'));
    const ways = some(
      [
        '../x',
        '..',
        './../../x',
        'a/../../x',
        '/etc/passwd',
        '//etc/passwd',
        '/proc/self/environ',
        `${home.directory}/admin.key`,
        '..\\x',
        '%2e%2e/x',
        'uploads/%2e%2e%2f%2e%2e/x',
        '~/x',
        'file:///etc/passwd',
        '\\\\host\\share',
        'a\0b',
        '.',
        '/dev/stdin',
        '/dev/zero',
        'uploads/../../2/x',
        '\u2025/x',
        `${root}/../x`,
        `${root}x/y`,
      ],
      8,
    );
    for (const way of ways) {
      for (const body of [
        { executions: [execution('xml2er', way)] },
        { executions: [execution('xsd2er', way)] },
        { executions: [execution('xml2er', good, [['-o', way]])] },
        { executions: [execution('xml2er', good, [['-o', `duckdb:${way}`]])] },
        {
          executions: [
            {
              app_name: 'er2xml',
              target: {
                generation: [
                  { command: '-l', enabled: true, value: '1' },
                  { command: '-i', enabled: true, value: 'metadb:x' },
                  { command: '-o', enabled: true, value: way },
                ],
              },
            },
          ],
        },
      ]) {
        const answer = await service.client.post<RunAnswer>('/v2/run/cmd', body);
        // a harmless name below the own folder may be an output
        if (answer.status === 200) {
          for (const idJob of answer.body.jobs) await service.client.ended(idJob);
          expect(way).toMatch(harmless);
        } else expect([way, answer.status]).toEqual([way, 400]);
      }
      const created = await service.client.post('/v2/schema/create', {
        name: `p ${ways.indexOf(way)}`,
        xsd: [way],
      });
      expect([way, [400, 422].includes(created.status)]).toEqual([way, true]);
      const removed = await service.client.fetch(`/v2/file?path=${encodeURIComponent(way)}`, {
        method: 'DELETE',
      });
      // what a job wrote there under that name may go again
      expect([way, [400, 404, ...(harmless.test(way) ? [204] : [])].includes(removed.status)]).toEqual([
        way,
        true,
      ]);
    }
    for (const name of [
      '../../evil.xml',
      '/etc/evil.xml',
      '..\\..\\evil.xml',
      '.hidden.xml',
      'a\0b.xml',
      `${'x'.repeat(5000)}.xml`,
      'con.xml',
      '\u202Egnp.xml',
      '%2e%2e%2fevil.xml',
    ]) {
      const path = await service.client.upload('xml', name, utf8.encode('<a/>'));
      expect(path).toMatch(/^uploads\/[0-9a-f]+\/[^/]+$/);
      expect(path.split('/')[2]).not.toMatch(/^\.|[\p{Cc}\p{Cf}]/u);
    }
    expect((await readdir(outside)).toSorted()).toEqual(['canary.dtd', 'canary.txt', 'canary.xsd']);
    expect(
      (await readdir(join(home.directory, 'files', '1'))).filter((name) => /evil|passwd/.test(name)),
    ).toEqual([]);
  });

  it('16: outputs through links: nothing is written where they lead', async () => {
    const good = await service.client.upload('xml', 'a.xml', utf8.encode('<a><b>1</b></a>'));
    await symlink(outside, join(root, 'away'));
    await mkdir(join(root, 'out'));
    await symlink(join(outside, 'written.csv'), join(root, 'out', 'a.csv'));
    await symlink(join(outside, 'written.sql'), join(root, 'out', 'load.sql'));
    expect(
      (
        await service.client.post('/v2/run/cmd', {
          executions: [execution('xml2er', good, [['-o', join(root, 'away/x')]])],
        })
      ).status,
    ).toBe(400);
    const done = await ended('xml2er', good, [['-o', join(root, 'out')]]);
    expect(['C', 'F']).toContain(done.status);
    expect((await readdir(outside)).filter((name) => name.startsWith('written'))).toEqual([]);
  });

  it('17: names made of SQL, reserved words, emoji, 200 characters, differing in case alone: quoted and apart', async () => {
    const names = [
      'a"b',
      "a'b",
      'a;b',
      'select',
      'SELECT',
      'Select',
      'drop-table',
      'ünïcödé',
      'x'.repeat(200),
      `${'x'.repeat(199)}y`,
      'a--b',
      'a.b',
      '_',
      '__',
      'public',
      'svc',
      'pg_class',
      'ctid',
      'row_key',
      'parent_key',
    ];
    const legal = names.filter((name) => /^[\p{L}_][\p{L}\p{N}._-]*$/u.test(name));
    const before =
      await sql`select relname from pg_class c where relnamespace in ('svc'::regnamespace, 'public'::regnamespace) and relkind = 'r' order by 1`;
    const text = `<r>${legal.map((name, at) => `<${name} v="${at}"><w>${at}</w><w>${at}</w></${name}>`).join('')}</r>`;
    const done = await job('xml', `"; drop schema svc cascade; --.xml`, text, [
      ['-o', 'metadb:na"me; drop table x'],
    ]);
    expect([done.status, done.failure]).toEqual(['C', null]);
    const tables = await sql<
      { name: string }[]
    >`select table_name as name from information_schema.tables where table_schema = 'na"me; drop table x'`;
    expect(new Set(tables.map(({ name }) => name)).size).toBe(tables.length);
    expect(tables.length).toBeGreaterThan(legal.length);
    expect(
      await sql`select relname from pg_class c where relnamespace in ('svc'::regnamespace, 'public'::regnamespace) and relkind = 'r' order by 1`,
    ).toEqual(before);
  });

  it(
    '18: values that COPY and SQL know arrive byte for byte; what XML forbids is F with its place',
    needs('whole run'),
    async () => {
      const values = [
        '\\.',
        '\\N',
        '\t',
        '\n',
        '\\',
        "'",
        '"',
        '$1',
        '\\x41',
        '😀',
        '\u{10FFFF}',
        'é',
        '\u0085',
        '\u2028',
        ';--',
        'NULL',
        '\\\\N',
        '{}',
        '\uFFFD',
        '\u00A0 ',
      ];
      const escaped = values.map((value) =>
        value
          .replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('\n', '&#10;')
          .replaceAll('\t', '&#9;')
          .replaceAll('"', '&quot;'),
      );
      const text = `<r>${escaped.map((value, at) => `<v n="${at}" a="${value}">${value}</v>`).join('')}<v n="90" a="&#13;">&#13;&#10;</v></r>`;
      const done = await job('xml', 'values.xml', text, [['-o', 'metadb:bytes']]);
      expect([done.status, done.failure]).toEqual(['C', null]);
      const [table] = await sql<
        { name: string }[]
      >`select table_name as name from information_schema.columns where table_schema = 'bytes' and column_name = 'n' limit 1`;
      const rows = await sql.unsafe(`select * from bytes."${table!.name}"`);
      const stored = new Map(rows.map((row) => [Number(row['n']), row]));
      for (const [at, value] of values.entries())
        expect([at, stored.get(at)!['a'], Object.values(stored.get(at)!).includes(value)]).toEqual([
          at,
          value,
          true,
        ]);
      expect(stored.get(90)!['a']).toBe('\r');
      expect(Object.values(stored.get(90)!)).toContain('\r\n');
      for (const bad of [
        '&#0;',
        '&#x0;',
        '&#1;',
        '&#xFFFE;',
        '&#xD800;',
        '&#xDFFF;',
        '&#x110000;',
        '\u0001',
        '&#99999999999999999999;',
      ])
        await failed(await job('xml', 'bad.xml', `<r>\n<v>${bad}</v></r>`), /line 2, column \d+/);
    },
  );

  it('19: encodings: the right text, or F with its place', needs('whole run'), async () => {
    const right: Record<string, Uint8Array> = {
      utf8: utf8.encode(accented),
      'utf8 with a mark': utf8.encode(`\uFEFF${accented}`),
      'utf16 little': utf16(false, true),
      'utf16 big': utf16(true, true),
      'latin 1': single('ISO-8859-1'),
      windows: single('windows-1252'),
    };
    for (const [name, bytes] of Object.entries(right)) {
      const sqlSchema = `enc_${name.replaceAll(/\W/g, '_')}`;
      const done = await job('xml', 'a.xml', bytes, [['-o', `metadb:${sqlSchema}`]]);
      expect([name, done.status, done.failure]).toEqual([name, 'C', null]);
      const [column] = await sql<
        { t: string; c: string }[]
      >`select table_name as t, column_name as c from information_schema.columns where table_schema = ${sqlSchema} and column_name = 'v' limit 1`;
      expect([
        name,
        (await sql.unsafe(`select "${column!.c}" as v from "${sqlSchema}"."${column!.t}"`))[0]?.['v'],
      ]).toEqual([name, 'é ß ü']);
    }
    const wrong: Record<string, Uint8Array> = {
      'latin 1 that says UTF-8': single('UTF-8'),
      'UTF-8 that says UTF-16': utf8.encode(`<?xml version="1.0" encoding="UTF-16"?>${accented}`),
      'an unknown name': single('x-klingon'),
      'UTF-7': utf8.encode('<?xml version="1.0" encoding="UTF-7"?><r>+AGE-</r>'),
      'an overlong form': new Uint8Array([0x3c, 0x72, 0x3e, 0xc0, 0xbc, 0x2f, 0x3c, 0x2f, 0x72, 0x3e]),
      'a surrogate in UTF-8': new Uint8Array([0x3c, 0x72, 0x3e, 0xed, 0xa0, 0x80, 0x3c, 0x2f, 0x72, 0x3e]),
      'UTF-16 cut in half': utf16(false, true).slice(0, -1),
    };
    for (const [name, bytes] of Object.entries(wrong)) {
      const done = await job('xml', 'a.xml', bytes);
      expect([name, done.status]).toEqual([name, 'F']);
      await failed(done);
    }
  });

  it(
    '20: archives that are cut, lead out or burst: F, and the disk holds no more than the upload',
    needs('whole run'),
    async () => {
      const before = await unpacked();
      const zeros = new Uint8Array(20 * mebibyte);
      const archives: Record<string, Uint8Array> = {
        'cut.xml.gz': gzipSync(utf8.encode(`<a>${'x'.repeat(10_000)}</a>`)).subarray(0, 40),
        'out.zip': zipped([{ name: '../../out.xml', bytes: utf8.encode('<a/>') }]),
        'absolute.zip': zipped([{ name: '/tmp/out.xml', bytes: utf8.encode('<a/>') }]),
        'bomb.zip': zipped(Array.from({ length: 12 }, (_, at) => ({ name: `${at}.xml`, bytes: zeros }))),
        'bomb.xml.gz': gzipSync(new Uint8Array(200 * mebibyte).fill(0x20)),
        'overlap.zip': overlappingZip(200, new Uint8Array(2 * mebibyte).fill(0x20)),
        'nested.zip': zipped(
          Array.from({ length: 12 }, (_, at) => ({ name: `${at}.xml.gz`, bytes: gzipSync(zeros) })),
        ),
        'no.zip': utf8.encode('PK\u0003\u0004 nothing'),
        'many.zip': zipped(
          Array.from({ length: 50 }, (_, at) => ({ name: `${at}.txt`, bytes: utf8.encode('x') })),
        ),
      };
      // connections that were closed while these were packed are noticed before they are used again
      await delay(100);
      for (const [name, bytes] of Object.entries(archives)) await failed(await job('xml', name, bytes));
      for (const [name, bytes] of Object.entries(archives))
        await failed(await job('xsd', name.replace('.xml', '.xsd'), bytes));
      expect((await readdir(tmpdir())).filter((name) => name === 'out.xml')).toEqual([]);
      expect(await unpacked()).toEqual(before);
    },
  );
});
