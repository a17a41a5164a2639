/** The file of examples/compose: its settings are properties that the service reads, and its places those of the container. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConfig } from '../../../src/config/check-config.ts';
import { properties, readConfig } from '../../../src/config/properties.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'examples/compose');

interface ComposeService {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
}

const text = await readFile(join(folder, 'compose.yaml'), 'utf8');
const { services, volumes } = parse(text, { merge: true }) as {
  services: Readonly<Record<'service' | 'worker' | 'db' | 'store' | 'bucket', ComposeService>>;
  volumes: object;
};
const secretKey = Buffer.alloc(32, 7).toString('base64');
/** The properties that a service of the file sets, by their names. */
function propertiesOf({ environment }: ComposeService): Record<string, string> {
  const names = new Map(
    properties.map(({ name }) => {
      const upper = name.toUpperCase().replaceAll('.', '_');
      return [upper.startsWith('SVC_') ? upper : `SVC_${upper}`, name] as const;
    }),
  );
  return Object.fromEntries(
    Object.entries(environment).map(([variable, value]) => {
      expect([variable, names.has(variable)]).toEqual([variable, true]);
      return [
        names.get(variable)!,
        value
          .replaceAll(/\$\{SVC_SECRET_KEY:\?[^}]+\}/g, secretKey)
          .replaceAll(/\$\{\w+:\?[^}]+\}/g, '0a1b2c'),
      ];
    }),
  );
}

/** The properties that service and worker have in common. */
function shared(given: Readonly<Record<string, string>>): (readonly [name: string, value: string])[] {
  return Object.entries(given).filter(([name]) => !name.startsWith('svc.worker.'));
}

async function lines(name: string): Promise<string[]> {
  return (await readFile(join(root, name), 'utf8')).split('\n');
}

describe('the file for Compose', () => {
  it('sets properties that there are, to values that the service takes', () => {
    const service = propertiesOf(services.service);
    const worker = propertiesOf(services.worker);
    for (const given of [service, worker]) {
      const config = readConfig(given);
      checkConfig(config);
      expect(given['metadb.url']).toBe('postgresql://svc:0a1b2c@db:5432/svc');
    }
    expect(shared(worker)).toEqual(shared(service));
    expect([service['svc.worker.concurrency'], worker['svc.worker.concurrency']]).toEqual(['0', '2']);
  });

  it('gives database and store the names and passwords that the settings have', () => {
    const {
      SVC_FILES_STORE,
      SVC_FILES_S3_ENDPOINT,
      SVC_FILES_S3_ACCESS_KEY,
      SVC_FILES_S3_SECRET_KEY,
      SVC_METADB_URL,
    } = services.service.environment;
    const { db, store, bucket } = services;
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = db.environment;
    expect(SVC_METADB_URL).toBe(`postgresql://${POSTGRES_USER}:${POSTGRES_PASSWORD}@db:5432/${POSTGRES_DB}`);
    const { MINIO_ROOT_USER, MINIO_ROOT_PASSWORD } = store.environment;
    expect([SVC_FILES_S3_ACCESS_KEY, SVC_FILES_S3_SECRET_KEY]).toEqual([
      MINIO_ROOT_USER,
      MINIO_ROOT_PASSWORD,
    ]);
    expect(SVC_FILES_S3_ENDPOINT).toBe('http://store:9000');
    expect(bucket.environment).toEqual({
      MC_HOST_store: `http://${MINIO_ROOT_USER}:${MINIO_ROOT_PASSWORD}@store:9000`,
    });
    expect(SVC_FILES_STORE).toMatch(/^s3:\/\/conversions\//);
    expect(text).toContain('store/conversions]');
  });

  it('has the places of the container, the image of this version, and an .env that README.md writes', async () => {
    const container = await readFile(join(root, 'Containerfile'), 'utf8');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    for (const { image } of [services.service, services.worker])
      expect(image).toBe(`conversion-job-service:${version}`);
    const [, home] = /\bSVC_HOME=(\S+)/.exec(container)!;
    const [, port] = /^EXPOSE (\d+)$/m.exec(container)!;
    expect(services.service.volumes).toEqual([`home:${home}`]);
    expect(services.service.ports).toEqual([`127.0.0.1:8080:${port}`]);
    expect(services.worker.environment['SVC_WORKER_PORT']).toBe(port);
    const page = await readFile(join(folder, 'README.md'), 'utf8');
    const wanted = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
    expect([...wanted].filter((name) => !page.includes(`\n${name}=$(openssl rand `))).toEqual([]);
    expect(page).toContain(`${home}/admin.key`);
  });

  it('keeps its .env out of the repository and of images', async () => {
    expect(await lines('.gitignore')).toContain('examples/compose/.env');
    // the one name that Docker and Podman both read
    expect(await lines('.dockerignore')).toEqual(expect.arrayContaining(['**/.env', 'node_modules']));
  });

  it('starts nothing before what it needs', () => {
    for (const { depends_on = {} } of Object.values(services))
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const needed = services[name as keyof typeof services];
        // the image of the service has a health check of its own
        if (condition === 'service_healthy' && name !== 'service') expect(needed.healthcheck).toBeDefined();
        expect([name, needed === undefined]).toEqual([name, false]);
      }
    const mounted = Object.values(services).flatMap(({ volumes: mounts = [] }) =>
      mounts.map((one) => one.split(':')[0]!),
    );
    expect(mounted.toSorted()).toEqual(Object.keys(volumes).toSorted());
  });
});
