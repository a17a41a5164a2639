/**
 * Real XSD sets between two installations on PostgreSQL servers of two versions: every table of the catalogue, every answer, and the
 * rows of documents that are loaded with what arrived. Two sets of the corpus; MIGRATION_SETS=all takes all of them, and
 * MIGRATION_SETS=FILE those of a JSON file, a list of {"name", "xsd", "nextXsd"?, "documents"} with absolute paths.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { corpusDirectory, isHere, needs } from '../../support/needs.ts';
import { gathered, moveSet, type Installed, type MovedSet } from '../../support/transfer/between.ts';
import { corpusGroups } from '../../support/round-trip/corpus.ts';
import { createServiceHome, startService } from '../../support/service/start.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../support/service/external-postgres.ts';

/** evolution and wildcards; documents that use few of many tables */
const short = ['iso20022', 'cdisc-odm'];
const wanted = process.env['MIGRATION_SETS'] ?? '';
const most = wanted === '' ? 2 : 8;
const sets = await chooseSets();

function path(name: string): string {
  return join(corpusDirectory, name);
}

async function chooseSets(): Promise<readonly MovedSet[]> {
  if (!isHere('corpus') && (wanted === '' || wanted === 'all')) return [];
  if (wanted !== '' && wanted !== 'all') return JSON.parse(await readFile(wanted, 'utf8')) as MovedSet[];
  const byXsd = corpusGroups().flatMap(({ corpus, xsd, documents }) =>
    xsd === null ? [] : [{ corpus, name: xsd, xsd, documents }],
  );
  // of each corpus the XSD with most documents, or each
  const chosen =
    wanted === 'all'
      ? byXsd
      : short.map((corpus) =>
          byXsd
            .filter((one) => one.corpus === corpus)
            .reduce((a, b) => (b.documents.length > a.documents.length ? b : a)),
        );
  return chosen.map(({ name, xsd, documents }) => ({
    name: name.replaceAll('/', ' ').replace(/\.xsd$/, ''),
    xsd: path(xsd),
    documents: documents.slice(0, most).map(path),
  }));
}

describe(
  'real sets that move',
  { timeout: 600_000, ...needs(['postgresql', 'whole run']), ...needs('corpus', sets.length > 0) },
  () => {
    let external: ExternalPostgres;
    let from: Installed;
    let to: Installed;

    beforeAll(async () => {
      external = await startExternalPostgres();
      const fromHome = await createServiceHome();
      const toHome = await createServiceHome({ 'metadb.url': external.url });
      const limits = { SVC_LIMITS_REQUESTS_PER_SECOND: '100000', SVC_LIMITS_REQUEST_BURST: '100000' };
      const [here, there] = await Promise.all([startService(fromHome, limits), startService(toHome, limits)]);
      const sql = connectPostgres(await fromHome.databaseUrl(), { applicationName: 'test', max: 2 });
      from = { home: fromHome, service: here, sql };
      to = { home: toHome, service: there, sql: external.sql };
    }, 120_000);

    afterAll(async () => {
      await from?.sql.end({ timeout: 1 });
      await Promise.all([from?.service.end('SIGTERM'), to?.service.end('SIGTERM')]);
      await Promise.all([from?.home.remove(), to?.home.remove()]);
      await external?.stop();
    });

    it.each(sets)('$name arrives whole, answers the same, and loads the same rows', async (set) => {
      const documents = await gathered(join(from.home.directory, 'documents', set.name), set.documents);
      const figures = await moveSet(from, to, { ...set, documents });
      expect(figures.mappings).toBeGreaterThan(0);
      if (wanted !== '') console.log(`${set.name}: ${JSON.stringify(figures)}`);
    });
  },
);
