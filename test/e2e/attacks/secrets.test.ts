/** Secrets in every field that can hold one, then looked for everywhere; and hosts that a request must not reach. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { secretForms } from '../../../src/service/jobs/mask-secrets.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { execution, type JobAnswer, type Problem, type RunAnswer } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const canary = (name: string): string => `c4n&ry "${name}" é/+`;
/** closed, so that whatever is tried there fails and is told of */
const nobody = '127.0.0.1:9';

describe('secrets', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  const secrets = new Map<string, string>();
  const seen = new Set<string>();
  let watch: NodeJS.Timeout;

  beforeAll(async () => {
    for (const name of ['option', 'address', 'input', 'spark', 'metadb', 'azure', 'webhook', 'lineage'])
      secrets.set(name, canary(name));
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': `${nobody},no-such-host.invalid`,
    });
    secrets.set('webhook', `whsec_${Buffer.from(canary('webhook').repeat(2)).toString('base64')}`);
    service = await trial.service(home, {
      SVC_WEBHOOKS_SECRET: secrets.get('webhook'),
      SVC_OPENLINEAGE_KEY: secrets.get('lineage'),
    });
    sql = await trial.metadb(home);
    // arguments and environments of every process, as long as all this runs
    watch = setInterval(
      () => void readProcesses().then((texts) => texts.forEach((text) => seen.add(text))),
      20,
    );
  });

  afterAll(() => {
    clearInterval(watch);
  });

  const places: Record<string, () => Promise<string>> = {
    'the output of the service': async () => service.output(),
    'its logs and those of its jobs': async () => {
      const names = await readdir(join(home.directory, 'logs'), { recursive: true });
      const texts = await Promise.all(
        names.map((name) => readFile(join(home.directory, 'logs', name), 'latin1').catch(() => '')),
      );
      return texts.map((text) => Buffer.from(text, 'latin1').toString()).join('\n');
    },
    'arguments and environments of processes': async () => [...seen].join('\n'),
    'the tables of the service': async () => {
      const tables = await sql<
        { name: string }[]
      >`select relname as name from pg_class where relnamespace = 'svc'::regnamespace and relkind = 'r'`;
      const rows = await Promise.all(
        tables.map(({ name }) => sql.unsafe(`select t::text as row from svc.${name} t`)),
      );
      return rows
        .flat()
        .map((row) => String(row['row']))
        .join('\n');
    },
    'job records, workflows, the audit log': async () => {
      const paths = [
        '/v2/executions/all?size=500',
        '/v2/workflow/all',
        '/v2/admin/audit?size=500',
        '/v2/extensions/cil/jobs',
        '/actuator/prometheus',
        '/actuator/info',
      ];
      return (await Promise.all(paths.map(async (path) => (await service.client.fetch(path)).text()))).join(
        '\n',
      );
    },
    'files of the home folder but the private ones': async () => {
      const names = await readdir(home.directory, { recursive: true });
      const open = names.filter((name) => !/^(db|conf|admin\.key|secret\.key|metadb\.url)(\/|$)/.test(name));
      return (
        await Promise.all(open.map((name) => readFile(join(home.directory, name), 'utf8').catch(() => '')))
      ).join('\n');
    },
  };

  const answers: string[] = [];
  async function post<T>(path: string, body: unknown): Promise<{ status: number; body: T }> {
    const answer = await service.client.post<T>(path, body);
    answers.push(JSON.stringify(answer.body));
    return answer;
  }

  it('22: canaries go through jobs that fail and jobs that are refused, exports and imports', async () => {
    const input = await service.client.upload('xml', 'a.xml', utf8.encode('<a><b>1</b></a>'));
    const [option, address, azure, metadb, inAddress] = ['option', 'address', 'azure', 'metadb', 'input'].map(
      (name) => secrets.get(name)!,
    ) as [string, string, string, string, string];
    const encoded = encodeURIComponent(address);
    const jobs: number[] = [];
    for (const options of [
      [
        ['-o', `postgresql://${nobody}/x?sslmode=disable`],
        ['-u', 'u'],
        ['-p', option],
      ],
      [['-o', `postgresql://u:${encoded}@${nobody}/x`]],
      [['-o', `postgresql://u:${encoded}@no-such-host.invalid/x?schema=s`]],
      [
        ['--spark-conf', `spark.driver.memory=1g`],
        ['-p', option],
        ['-o', 'out'],
      ],
    ] as const) {
      const { status, body } = await post<RunAnswer>('/v2/run/cmd', {
        name: 'w',
        executions: [execution('xml2er', input, options)],
      });
      if (status === 200) jobs.push(...body.jobs);
    }
    // refused: what is wrong is told, the secret is not
    for (const options of [
      [['-o', `postgresql://u:${encoded}@elsewhere.example/x`]],
      [['-o', `postgresql://u:${address}@${nobody}/x`]],
      [['-o', `postgresql://u:${encoded}@${nobody}/x?password=${encoded}`]],
      [['-o', `https://h/?sig=${encoded}`]],
      [['-o', `host=${nobody} password='${option}'`]],
      [['-o', `AccountName=a;AccountKey=${option};`]],
      [['-p', `${option}\0`]],
      [['--spark-conf', `spark.some.password=${secrets.get('spark')!}`]],
      [['--no-such-option', option]],
    ] as const)
      expect(
        (await post<Problem>('/v2/run/cmd', { executions: [execution('xml2er', input, options)] })).status,
      ).toBeGreaterThanOrEqual(400);
    await post('/v2/run/cmd', {
      executions: [execution('xml2er', `postgresql://u:${encodeURIComponent(inAddress)}@h/x.xml`)],
    });
    expect(jobs.length).toBeGreaterThanOrEqual(3);
    for (const idJob of jobs) {
      // an outage may pass: the job waits for its next attempt, and is ended here
      await service.client.running(idJob).catch(() => undefined);
      await service.client.fetch(`/v2/executions/kill/${idJob}`, { method: 'POST' });
      const done: JobAnswer = await service.client.ended(idJob);
      answers.push(JSON.stringify(done));
    }
    const rerun = await service.client.fetch(`/v2/run/rerun/${jobs[0]}`);
    answers.push(await rerun.text());
    const migration = {
      metadb_host: '127.0.0.1',
      metadb_port: '9',
      metadb_user: 'u',
      metadb_password: metadb,
    };
    for (const [path, body] of [
      ['/v2/schema/import', { ...migration, input_path: 'none' }],
      ['/v2/schema/export', { ...migration, origin_id: '1', output_path: 'out' }],
      [
        '/v2/schema/export',
        { origin_id: '1', az_output_path: `https://${nobody}/c/?sv=1&sig=${encodeURIComponent(azure)}` },
      ],
      [
        '/v2/schema/export',
        {
          origin_id: '1',
          az_output_path: `https://elsewhere.example/c/?sv=1&sig=${encodeURIComponent(azure)}`,
        },
      ],
      [
        '/v2/schema/import',
        { input_path: 'in', az_input_path: `https://${nobody}/c/?sig=${encodeURIComponent(azure)}` },
      ],
    ] as const)
      await post(path, body);
    answers.push(
      await (await service.client.fetch(`/v2/executions/all?token=${encodeURIComponent(azure)}`)).text(),
    );
  });

  it('22: none of them stands in an answer', () => {
    expect(answers.length).toBeGreaterThan(12);
    expect(found(answers.join('\n'))).toEqual([]);
  });

  it.each(Object.keys(places))('22: none of them stands in %s, in any encoding', async (place) => {
    const text = await places[place]!();
    expect(text.length).toBeGreaterThan(50);
    expect(found(text)).toEqual([]);
  });

  it('22: keys and upload tokens are stored as hashes, the password of the database stands in its own file alone', async () => {
    const { body } = await service.client.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml' });
    const key = service.key.split('_').slice(2).join('_');
    const password = new URL(await home.databaseUrl()).password;
    for (const [place, read] of Object.entries(places)) {
      const text = await read();
      for (const secret of [key, body.token, password])
        expect([place, text.includes(secret)]).toEqual([place, false]);
    }
  });

  /** Where a secret, or what an encoding made of it, stands in a text. */
  function found(text: string): string[] {
    return [...secrets].flatMap(([name, secret]) =>
      [...secretForms(secret), `ry "${name}"`, `ry%20%22${name}`].flatMap((form) => {
        const at = text.indexOf(form);
        return at < 0 ? [] : [`${name}: ${text.slice(Math.max(0, at - 60), at + 60)}`];
      }),
    );
  }

  const loopbacks = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    '0',
    '::',
    '[::]',
    '127.0.0.1.',
    'LOCALHOST',
    '①②⑦.⓪.⓪.①',
  ];
  const metadatas = [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '::ffff:169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    'metadata.google.internal',
    '100.100.100.200',
    '168.63.129.16',
  ];
  it.each([...loopbacks, ...metadatas])(
    '25: metadb_host %s is refused before anything is sent',
    async (host) => {
      const body = {
        metadb_host: host,
        metadb_port: '5432',
        metadb_user: 'u',
        metadb_password: 'p',
        origin_id: '1',
        output_path: 'out',
      };
      const answer = await service.client.post<Problem>('/v2/schema/export', body);
      expect([host, [400, 403].includes(answer.status), answer.body.code]).toEqual([
        host,
        true,
        expect.stringMatching(/host_not_allowed|invalid_body/),
      ]);
      const target = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
      const run = await service.client.post<Problem>('/v2/run/cmd', {
        executions: [execution('xml2er', 'none.xml', [['-o', `postgresql://${target}/x`]])],
      });
      expect([host, [400, 403].includes(run.status)]).toEqual([host, true]);
      const cloud = await service.client.post<Problem>('/v2/schema/export', {
        origin_id: '1',
        az_output_path: `https://${target}/c/?sig=x`,
      });
      expect([host, [400, 403, 404].includes(cloud.status)]).toEqual([host, true]);
    },
  );
});

/** What a process shows of itself; the service's own environment is where the operator put its settings. */
async function readProcess(pid: string): Promise<string[]> {
  const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const before = await read('cmdline');
  const environment = await read('environ');
  const after = await read('cmdline');
  // a child is the service until its own program has taken its place
  const isService = [before, after].some((line) => line.includes('src/runtime/service-main.ts'));
  return isService ? [before, after] : [before, environment, after];
}

async function readProcesses(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const texts = await Promise.all(pids.map(readProcess));
  return texts.flat().filter((text) => text !== '');
}
