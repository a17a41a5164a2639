/**
 * A real Spring Boot Admin server (scripts/spring-boot-admin, built by Maven) watches the service.
 * `ADMIN_SERVER=1 npm test -- test/e2e/clients/spring-boot-admin.test.ts`; needs Java 17, Maven and its central repository.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, type RunningService, type ServiceHome } from '../../support/service/start.ts';
import { toolCache } from '../../support/tool-cache.ts';
import { eventually } from '../../support/service/waiting.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { freePort } from '../../support/free-port.ts';

interface Instance {
  readonly registration: { readonly name: string };
  readonly statusInfo: {
    readonly status: string;
    readonly details: Readonly<Record<string, { readonly status: string; readonly details?: object }>>;
  };
  readonly endpoints: readonly { readonly id: string }[];
  readonly info: { readonly build?: { readonly name: string } };
}

describe('a Spring Boot Admin server', { timeout: 300_000, ...needs('spring boot admin') }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let admin: ChildProcess;
  let address: string;

  beforeAll(async () => {
    const project = toolCache('spring-boot-admin');
    await mkdir(project, { recursive: true });
    await cp(join(projectRoot, 'scripts/spring-boot-admin'), project, { recursive: true });
    await promisify(execFile)('mvn', ['-q', '-B', 'package'], { cwd: project });
    home = await trial.home();
    service = await trial.service(home);
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    admin = spawn(
      'java',
      ['-jar', 'target/admin-server.jar', `--server.port=${port}`, '--server.address=127.0.0.1'],
      {
        cwd: project,
        // nothing else: Spring takes settings from every variable that is called like one
        env: { PATH: process.env['PATH'], API_KEY: service.key },
        stdio: 'ignore',
      },
    );
    await eventually('the admin server', async () => {
      const answer = await fetch(`${address}/instances`, { headers: { Accept: 'application/json' } }).catch(
        () => null,
      );
      return answer?.ok === true ? true : null;
    });
    const registered = await fetch(`${address}/instances`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name: 'conversion-job-service',
        managementUrl: `${service.url}/actuator`,
        healthUrl: `${service.url}/actuator/health`,
        serviceUrl: `${service.url}/`,
      }),
    });
    expect(registered.status).toBe(201);
  }, 300_000);

  afterAll(() => {
    admin?.kill('SIGTERM');
  });

  it('lists the service as UP, with its parts, its endpoints and its build', async () => {
    const instance = await eventually('the service known by its endpoints', async () => {
      const answer = await fetch(`${address}/instances`, { headers: { Accept: 'application/json' } });
      const [one] = (await answer.json()) as Instance[];
      return one !== undefined &&
        one.statusInfo.status !== 'UNKNOWN' &&
        one.endpoints.length > 1 &&
        one.info.build !== undefined
        ? one
        : null;
    });
    expect(instance.registration.name).toBe('conversion-job-service');
    expect(instance.statusInfo.status).toBe('UP');
    expect(Object.keys(instance.statusInfo.details).toSorted()).toEqual(
      expect.arrayContaining(['db', 'diskSpace', 'livenessState', 'readinessState', 'worker']),
    );
    for (const name of ['db', 'diskSpace'])
      expect(instance.statusInfo.details[name]).toMatchObject({ status: 'UP', details: expect.any(Object) });
    expect(instance.endpoints.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['health', 'info', 'prometheus']),
    );
    expect(instance.info.build!.name).toBe('conversion-job-service');
  });
});
