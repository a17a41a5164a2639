/** Strangers' XML, XSDs, archives and paths, run as jobs of a real service; the numbers are those of the threat list. */
import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { zipped } from '../../support/service/archives.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { execution, type JobAnswer, type Options, type Problem } from '../../support/service/client.ts';
import { peakMemory, toolProcesses } from '../../support/service/processes.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const canary = 'c4nary-7f3b-of-the-host';
const schemaOf = (content: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${content}</xs:schema>`;
const doctype = (subset: string, body = '<a>&x;</a>'): string => `<!DOCTYPE a [${subset}]>${body}`;
const mebibyte = 1024 * 1024;

const file = (name: string, content: string) => ({ name, bytes: utf8.encode(schemaOf(content)) });
const include = (at: number): string => `<xs:include schemaLocation="f${at}.xsd"/>`;

const laughs = (levels: number): string =>
  Array.from({ length: levels }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');

describe('attacks by documents', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let outside: string;
  let root: string;
  let listener: Server;
  let heard: string[];
  let web: string;

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
    web = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.files.roots': root,
      'svc.allow.hosts': '*',
    });
    service = await trial.service(home);
  });

  afterAll(async () => {
    listener?.close();
    for (const folder of [outside, root]) await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    expect(heard).toEqual([]);
    expect((await fetch(`${service.url}/actuator/health/readiness`)).status).toBe(200);
  });

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

  const external: Record<string, () => string> = {
    'a file': () => doctype(`<!ENTITY x SYSTEM "file://${outside}/canary.txt">`),
    'a relative file': () => doctype('<!ENTITY x SYSTEM "../../../../admin.key">'),
    'a web address': () => doctype(`<!ENTITY x SYSTEM "${web}/entity">`),
    'a public identifier': () => doctype(`<!ENTITY x PUBLIC "-//X//Y" "${web}/public">`),
    'a parameter entity': () => doctype(`<!ENTITY % p SYSTEM "${web}/parameter"> %p;`),
    'a parameter entity of a file': () => doctype(`<!ENTITY % p SYSTEM "file://${outside}/canary.dtd"> %p;`),
    'an external subset': () => `<!DOCTYPE a SYSTEM "${web}/subset"><a>&x;</a>`,
    'an external subset in a file': () => `<!DOCTYPE a SYSTEM "file://${outside}/canary.dtd"><a>&x;</a>`,
    'an entity in an attribute': () =>
      doctype(`<!ENTITY x SYSTEM "file://${outside}/canary.txt">`, '<a b="&x;"/>'),
    'an entity by way of another': () =>
      doctype(`<!ENTITY y SYSTEM "file://${outside}/canary.txt"><!ENTITY x "&y;">`),
    'an unparsed entity': () =>
      doctype(`<!NOTATION n SYSTEM "${web}/n"><!ENTITY x SYSTEM "${web}/x" NDATA n>`),
  };
  it.each(some(Object.keys(external), 2))(
    '12: an external entity, %s: F, nothing read, nothing sent',
    async (name) => {
      await failed(await job('xml', 'a.xml', external[name]!()));
    },
  );

  it('12: references that load nothing: schemaLocation, stylesheets, XInclude are content', async () => {
    const text = `<?xml-stylesheet href="${web}/style"?><a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
      xsi:noNamespaceSchemaLocation="${web}/schema"><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file://${outside}/canary.txt" parse="text"/></a>`;
    const done = await job('xml', 'a.xml', text);
    expect(done.status).toBe('C');
    expect(JSON.stringify(done) + (await service.client.log(done.id_job))).not.toContain(canary);
  });

  const bombs: Record<string, string> = {
    'a billion laughs': doctype(`<!ENTITY l0 "lol">${laughs(10)}`, '<a>&l10;</a>'),
    'a billion laughs in an attribute': doctype(`<!ENTITY l0 "lol">${laughs(10)}`, '<a b="&l10;"/>'),
    'a billion laughs in parameter entities': doctype(
      `<!ENTITY % l0 " ">${Array.from({ length: 10 }, (_, at) => `<!ENTITY % l${at + 1} "${`&#37;l${at};`.repeat(10)}">`).join('')}%l10;`,
    ),
    'laughs in the default of an attribute': doctype(
      `<!ENTITY l0 "lol">${laughs(10)}<!ATTLIST a b CDATA "&l10;">`,
      '<a/>',
    ),
    'quadratic blow-up': doctype(`<!ENTITY x "${'x'.repeat(100_000)}">`, `<a>${'&x;'.repeat(20_000)}</a>`),
    'entities that name each other': doctype('<!ENTITY x "&y;"><!ENTITY y "&x;">'),
    'an entity that names itself': doctype('<!ENTITY x "&x;">'),
    'elements that laugh': doctype(`<!ENTITY l0 "<b/>">${laughs(10)}`, '<a>&l10;</a>'),
  };
  it.each(some(Object.keys(bombs), 2))('13: %s: F in seconds, with little memory', async (name) => {
    const path = await service.client.upload('xml', 'bomb.xml', utf8.encode(bombs[name]!));
    const idJob = await submit('xml2er', path);
    let peak = 0;
    const watch = setInterval(() => {
      void toolProcesses(home, idJob).then(async (found) => {
        for (const { pid } of found) peak = Math.max(peak, (await peakMemory(pid)) ?? 0);
      });
    }, 20);
    try {
      const done = await service.client.ended(idJob);
      await failed(done, /entit|expan|recurs|itself|parameter/i);
      expect(done.failure).toMatch(/line \d+, column \d+/);
      expect(done.end_date! - done.start_date!).toBeLessThan(30_000);
      expect(peak).toBeLessThan(600 * mebibyte);
    } finally {
      clearInterval(watch);
    }
  });

  const leaks: Record<string, () => string> = {
    'an include of a file': () => schemaOf(`<xs:include schemaLocation="file://${outside}/canary.xsd"/>`),
    'an include of an absolute path': () => schemaOf(`<xs:include schemaLocation="${outside}/canary.xsd"/>`),
    'an include up and out': () =>
      schemaOf(`<xs:include schemaLocation="../../../../../..${outside}/canary.xsd"/>`),
    'an include of a text': () => schemaOf(`<xs:include schemaLocation="${outside}/canary.txt"/>`),
    'an import of a web address': () =>
      schemaOf(
        `<xs:import namespace="urn:x" schemaLocation="${web}/import"/><xs:element name="a" type="x:T" xmlns:x="urn:x"/>`,
      ),
    'a redefine of a file': () => schemaOf(`<xs:redefine schemaLocation="file://${outside}/canary.xsd"/>`),
    'an encoded way up': () =>
      schemaOf(`<xs:include schemaLocation="%2e%2e/%2e%2e/%2e%2e${outside}/canary.xsd"/>`),
    'an external entity': () =>
      `<!DOCTYPE x [<!ENTITY x SYSTEM "file://${outside}/canary.txt">]>${schemaOf('<xs:element name="a"><xs:annotation><xs:documentation>&x;</xs:documentation></xs:annotation></xs:element>')}`,
    'an external subset': () =>
      `<!DOCTYPE x SYSTEM "${web}/dtd">${schemaOf('<xs:element name="a"><xs:annotation><xs:documentation>&x;</xs:documentation></xs:annotation></xs:element>')}`,
    laughs: () =>
      `<!DOCTYPE x [<!ENTITY l0 "lol">${laughs(10)}]>${schemaOf('<xs:element name="a"><xs:annotation><xs:documentation>&l10;</xs:documentation></xs:annotation></xs:element>')}`,
  };
  it.each(some(Object.keys(leaks), 2))(
    '14: an XSD with %s: F, and 422 over REST, without a byte of the file',
    async (name) => {
      await failed(await job('xsd', 'main.xsd', leaks[name]!()));
      const path = await service.client.upload('xsd', 'main.xsd', utf8.encode(leaks[name]!()));
      const created = await service.client.post<Problem>('/v2/schema/create', {
        name: `leak ${name}`,
        xsd: [path],
      });
      expect([created.status, created.body.code]).toEqual([422, 'unprocessable_input']);
      expect(JSON.stringify(created.body)).not.toContain(canary);
      expect(JSON.stringify(created.body)).not.toContain('c4nary_7f3b');
    },
  );

  it('14: an include that a link in an allowed folder would lead out: not read', async () => {
    const folder = join(root, 'linked');
    await mkdir(folder);
    const main = schemaOf('<xs:include schemaLocation="more.xsd"/><xs:element name="a" type="xs:string"/>');
    await writeFile(join(folder, 'main.xsd'), main);
    await symlink(join(outside, 'canary.xsd'), join(folder, 'more.xsd'));
    const done = await ended('xsd2er', folder);
    const log = await service.client.log(done.id_job);
    expect(log).toMatch(/more\.xsd.* is not in the set/);
    expect(log).toContain('1 files, 1 elements');
    expect(log).not.toMatch(/c4nary/);
  });

  const heavy: Record<string, { text: string; status: string }> = {
    'groups that double 32 deep': {
      status: 'CF',
      text: schemaOf(
        `<xs:group name="g0"><xs:sequence><xs:element name="e" type="xs:string"/></xs:sequence></xs:group>${Array.from({ length: 32 }, (_, at) => `<xs:group name="g${at + 1}"><xs:sequence><xs:group ref="g${at}"/><xs:group ref="g${at}"/></xs:sequence></xs:group>`).join('')}<xs:element name="a"><xs:complexType><xs:group ref="g32"/></xs:complexType></xs:element>`,
      ),
    },
    'types that double 40 deep': {
      status: 'CF',
      text: schemaOf(
        `<xs:complexType name="t0"><xs:sequence><xs:element name="e" type="xs:string"/></xs:sequence></xs:complexType>${Array.from({ length: 40 }, (_, at) => `<xs:complexType name="t${at + 1}"><xs:sequence><xs:element name="l" type="t${at}"/><xs:element name="r" type="t${at}"/></xs:sequence></xs:complexType>`).join('')}<xs:element name="a" type="t40"/>`,
      ),
    },
    'attribute groups that double 32 deep': {
      status: 'CF',
      text: schemaOf(
        `<xs:attributeGroup name="g0"><xs:attribute name="x"/></xs:attributeGroup>${Array.from({ length: 32 }, (_, at) => `<xs:attributeGroup name="g${at + 1}"><xs:attributeGroup ref="g${at}"/><xs:attributeGroup ref="g${at}"/></xs:attributeGroup>`).join('')}<xs:element name="a"><xs:complexType><xs:attributeGroup ref="g32"/></xs:complexType></xs:element>`,
      ),
    },
    'maxOccurs in the millions, nested': {
      status: 'C',
      text: schemaOf(
        `<xs:element name="a"><xs:complexType><xs:sequence maxOccurs="9999999"><xs:choice maxOccurs="9999999"><xs:element name="b" minOccurs="0" maxOccurs="999999999" type="xs:string"/><xs:element name="c" maxOccurs="9999999" type="xs:string"/></xs:choice></xs:sequence></xs:complexType></xs:element>`,
      ),
    },
    'a pattern that explodes': {
      status: 'CF',
      text: schemaOf(
        `<xs:element name="a" default="${'a'.repeat(60)}!"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="((a+)+)+b"/><xs:pattern value="(a|aa)+{1,999999}"/></xs:restriction></xs:simpleType></xs:element>`,
      ),
    },
    'a type that derives from itself': {
      status: 'F',
      text: schemaOf(
        '<xs:complexType name="t"><xs:complexContent><xs:extension base="t"/></xs:complexContent></xs:complexType><xs:element name="a" type="t"/>',
      ),
    },
    'elements nested beyond the limit': { status: 'F', text: schemaOf('<xs:annotation>'.repeat(6000)) },
  };
  it.each(some(Object.keys(heavy), 2))('15: %s: bounded time and memory', async (name) => {
    const { text, status } = heavy[name]!;
    const done = await job('xsd', 'heavy.xsd', text);
    expect([name, status.includes(done.status), done.failure]).toEqual([name, true, done.failure]);
    expect(done.failure ?? '').not.toMatch(/unexpected fault|heap|stack/i);
    expect(done.end_date! - done.start_date!).toBeLessThan(60_000);
  });

  it('17: names with line ends and escapes of terminals forge no line of a log, and no failure has two', async () => {
    const evil = 'a\nforged: all is well\r\u001b[31m\u202e.xml';
    const archive = zipped([
      { name: evil, bytes: utf8.encode('<a>') },
      { name: 'b.xml', bytes: utf8.encode('<a/>') },
    ]);
    const idJob = await submit('xml2er', await service.client.upload('xml', 'names.zip', archive));
    const { status, failure } = await service.client.ended(idJob);
    expect([status, failure]).toEqual([
      'F',
      expect.stringContaining('a\\nforged: all is well\\r\\u{1b}[31m'),
    ]);
    expect(failure).not.toMatch(/[\p{Cc}\u202e]/u);
    const log = await service.client.log(idJob);
    expect(log).not.toMatch(/^forged/m);
    expect(log).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u);
  });

  it(
    '15: ten thousand includes, in a chain, in a star, in a circle: bounded time',
    needs('whole run'),
    async () => {
      const chain = Array.from({ length: 10_000 }, (_, at) =>
        file(`f${at}.xsd`, at < 9999 ? include(at + 1) : '<xs:element name="a" type="xs:string"/>'),
      );
      const star = [
        file(
          'main.xsd',
          Array.from({ length: 10_000 }, (_, at) => include(at)).join('') +
            '<xs:element name="a" type="xs:string"/>',
        ),
        ...Array.from({ length: 10_000 }, (_, at) =>
          file(`f${at}.xsd`, `<xs:element name="e${at}" type="xs:string"/>`),
        ),
      ];
      const circle = Array.from({ length: 300 }, (_, at) =>
        file(
          `f${at}.xsd`,
          include((at + 1) % 300) + (at === 0 ? '<xs:element name="a" type="xs:string"/>' : ''),
        ),
      );
      for (const files of [chain, star, circle]) {
        const done = await job('xsd', 'set.zip', zipped(files));
        expect([['C', 'F'].includes(done.status), done.failure]).toEqual([true, done.failure]);
        expect(done.failure ?? '').not.toMatch(/unexpected fault|heap|stack|Maximum/i);
      }
    },
  );
});
