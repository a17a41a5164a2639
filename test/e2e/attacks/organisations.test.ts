/**
 * What one organisation has, asked for by another through every operation of the interface: by its ids, names and paths, in addresses, queries
 * and bodies. Each answer is that for what is not there, no list has it, and nothing of it changes.
 */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { addressOf, json } from '../../support/contract-values.ts';
import { operationsOf, type ListedOperation, type OpenApiDocument } from '../../support/openapi-document.ts';
import { execution, type RunAnswer, type ServiceClient } from '../../support/service/client.ts';
import { absentOrganisation, furnishOrganisation, type FurnishedOrganisation } from './furnished.ts';
import {
  projectRoot,
  serviceEnvironment,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { askedOf, bodiesOf, valuesFor, type Asked } from './foreign-requests.ts';

/** What keys of the first organisation, whose people are the operator, do for all. */
const ofOperator = [
  'listOrganisations',
  'createOrganisation',
  'listApiKeys',
  'createApiKey',
  'revokeApiKey',
  'listAudit',
  'listAuditPage',
  'getLogfile',
];

describe('what another organisation has', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let heron: FurnishedOrganisation;
  let otter: FurnishedOrganisation;
  let operations: readonly ListedOperation[];
  let before: ReadonlyMap<string, string>;

  beforeAll(async () => {
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.limits.requests_per_second': '100000',
      'svc.limits.request_burst': '100000',
    });
    service = await trial.service(home);
    operations = operationsOf(await service.client.get<OpenApiDocument>('/doc')).filter(
      ({ method, path }) => method !== 'TRACE' && path !== '/error',
    );
    // lists come before what the walk makes itself
    operations = operations.toSorted((a, b) => Number(b.method === 'GET') - Number(a.method === 'GET'));
    heron = await furnishOrganisation(home, service, 'heron');
    otter = await furnishOrganisation(home, service, 'otter');
    before = await ownAnswers(heron);
  });

  /** All that an organisation reads of its own. */
  async function ownAnswers(of: FurnishedOrganisation): Promise<ReadonlyMap<string, string>> {
    const answers = new Map<string, string>();
    for (const operation of operations) {
      const { method, path, operationId } = operation;
      const isRead = method === 'GET' && path.startsWith('/v2/') && operationId !== 'rerunExecution';
      if (!isRead || path.includes('/audit') || path.includes('/generate')) continue;
      const named = `?target=metadb:${of.mark}_rows&table=${of.mark}_order`;
      const address =
        operationId === 'listTargetRows' ? `${path}${named}` : addressOf(operation, valuesFor(of));
      const answer = await of.client.fetch(address);
      expect([address, answer.status]).toEqual([address, 200]);
      answers.set(address, await answer.text());
    }
    return answers;
  }

  it('is there, under its own key', () => {
    const told = [...before.values()].join('\n');
    for (const what of [
      'heron watch',
      'heron-2.xml',
      'heron-store',
      'heron flow',
      'heronfeed',
      'heron_order',
    ])
      expect([what, told.includes(what)]).toEqual([what, true]);
  });

  it('stands in the table of operations, each of which is walked', async () => {
    const { operations: table } = JSON.parse(
      await readFile(join(projectRoot, 'docs/interface/operations.json'), 'utf8'),
    ) as { operations: { method: string; path: string }[] };
    const walked = new Set(operations.map(({ method, path }) => `${method} ${path}`));
    const missing = table.map(({ method, path }) => `${method} ${path}`).filter((one) => !walked.has(one));
    expect(missing.filter((one) => !one.endsWith(' /error'))).toEqual([]);
    const writes = operations.filter(
      ({ method, requestBody }) => method !== 'GET' && requestBody !== undefined,
    );
    const bodies = bodiesOf(heron, otter);
    expect(writes.map(({ operationId }) => operationId).filter((id) => !Object.hasOwn(bodies, id))).toEqual(
      [],
    );
  });

  it('is in no list by hand of another organisation', async () => {
    for (const words of [
      ['jobs'],
      ['job', String(heron.idJob)],
      ['log', String(heron.idFailed)],
      ['schemas'],
      ['schema', 'heronfeed'],
      ['schema', String(heron.idSch)],
      ['ddl', 'heronfeed'],
      ['targets', 'list'],
      ['credentials', 'list'],
      ['keys', 'list'],
      ['audit'],
      ['watches', 'list'],
      ['watches', 'show', 'heron watch'],
      ['watches', 'files', 'heron watch'],
      ['watches', 'run', 'heron watch', '--retry'],
      ['watches', 'pause', 'heron watch'],
      ['watches', 'remove', String(heron.idWatch)],
      ['credentials', 'remove', 'heron-store'],
    ]) {
      const told = await byHand(words, otter.idOrg);
      // what was asked for is repeated
      const asked = words.reduce((text, word) => text.replaceAll(word, ''), told);
      expect([words, asked]).toEqual([words, expect.not.stringContaining('heron')]);
    }
    expect(await byHand(['watches', 'list'], heron.idOrg)).toContain('heron watch');
  });

  it.each(['a key of its own organisation', 'a key of the first organisation'])(
    'is for %s as if it were not there, in every operation',
    async (who) => {
      const isOperator = who.includes('first');
      const reader = isOperator ? service.client : otter.client;
      const absent = absentOrganisation('nobdy', heron);
      const differences: string[] = [];
      let walked = 0;
      for (const operation of operations) {
        if (isOperator && ofOperator.includes(operation.operationId)) continue;
        const theirs = askedOf(operation, heron, otter);
        const nothing = askedOf(operation, absent, otter);
        for (const [at, asked] of theirs.entries()) {
          const [told, control] = [
            await answerTo(reader, operation.method, asked),
            await answerTo(reader, operation.method, nothing[at]!),
          ];
          walked += 1;
          const what = `${operation.method} ${asked.address} ${JSON.stringify(asked.body ?? '')}`;
          const isList = JSON.stringify(asked) === JSON.stringify(nothing[at]);
          const [own, other] = [told, control].map((text) => withoutNames(text, [heron, absent]));
          if (!isList && own !== other) differences.push(`${what}\n  ${own}\n  ${other}`);
          if (isList && told.includes('heron')) differences.push(`${what}\n  ${told}`);
        }
      }
      expect(differences).toEqual([]);
      expect(walked).toBeGreaterThan(110);
    },
  );

  it('keeps its names of targets, and whose they are is not told', async () => {
    for (const reader of [otter.client, service.client]) {
      const { status, body } = await reader.post('/v2/run/cmd', {
        executions: [execution('xml2er', otter.xmlPath, [['-o', 'metadb:heron_rows']])],
      });
      const text = JSON.stringify(body);
      expect([400, 403]).toContain(status);
      expect(text.replaceAll('heron_rows', '')).not.toMatch(/heron|organisation \d/);
    }
  });

  it('stands in no package of another schema', async () => {
    const moved = join(otter.folder, 'otter-moved');
    const names = (await readdir(moved, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    expect(names.length).toBeGreaterThan(1);
    for (const { parentPath, name } of names)
      expect(await readFile(join(parentPath, name), 'latin1')).not.toContain('heron');
  });

  it('is as it was', async () => {
    expect(await ownAnswers(heron)).toEqual(before);
  });

  async function byHand(words: readonly string[], idOrg: number): Promise<string> {
    const tool = join(projectRoot, 'bin/conversion-job-service.mjs');
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [tool, ...words, '--org', String(idOrg)],
      { env: serviceEnvironment(home) },
    ).catch((error: { stdout: string; stderr: string }) => error);
    return stdout + stderr;
  }
});

/** Status and text; of jobs that were taken also how they ended, and their logs. */
async function answerTo(reader: ServiceClient, method: string, { address, body }: Asked): Promise<string> {
  const answer = await reader.fetch(address, { ...(body === undefined ? {} : json(body)), method });
  const text = `${answer.status} ${await answer.text()}`;
  if (address !== '/v2/run/cmd' || answer.status !== 200) return text;
  const { jobs } = JSON.parse(text.slice(4)) as RunAnswer;
  const ended: string[] = [];
  for (const idJob of jobs) {
    const { status, failure } = await reader.ended(idJob);
    ended.push(`${status} ${failure} ${(await reader.log(idJob)).replaceAll(/^\S+ /gm, '')}`);
  }
  return ended.join('\n');
}

/** Without what the request names, and what is another in each answer. */
function withoutNames(text: string, named: readonly FurnishedOrganisation[]): string {
  const ids = named.flatMap((of) =>
    [of.idOrg, of.idKey, of.idSch, of.idLschma, of.idJob, of.idFailed, of.idWorkflow, of.idWatch].map(String),
  );
  return text
    .replace(/"timestamp":"[^"]*"|"request_id":"[^"]*"/g, '')
    .replaceAll(/"(?:created|created_at|id_watch|next_run)":\d+|\bjob \d+/g, '')
    .replaceAll(new RegExp(named.map(({ mark }) => mark).join('|'), 'g'), '…')
    .replaceAll(new RegExp(`(?<![\\w.])(?:${ids.join('|')})(?![\\w.])`, 'g'), '#');
}
