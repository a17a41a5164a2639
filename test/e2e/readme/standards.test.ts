/** The pages about standards in docs/how-to whose documents are in the corpus: their queries, with the output that they show. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { formatTable } from '../../../scripts/demo/text-table.ts';
import { corpusDirectory, needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { runShell } from './shell.ts';
import { walk } from './walk.ts';

const standards = [
  {
    page: 'iso-20022.md',
    documents: ['iso20022/test/data/camt053.v2.*.xml'],
    xsd: 'iso20022/assets/camt.053.001.02.xsd',
  },
  {
    page: 'netex.md',
    documents: ['netex/examples/functions/timetable/Netex_01*.xml'],
    xsd: 'netex/xsd/NeTEx_publication.xsd',
  },
];

describe('docs/how-to', { timeout: 240_000, ...needs(['corpus', 'whole run']) }, () => {
  const trial = useTrial();

  it.for(standards)('$page', async ({ page, documents, xsd }) => {
    const folder = await trial.folder('standards-');
    const { url } = await trial.emptyDatabase();
    const environment = { SVC_HOME: join(folder, 'home'), SVC_METADB_URL: url };
    const file = join(folder, 'rows.sqlite');
    const inputs = documents.flatMap((pattern) => globSync(join(corpusDirectory, pattern)));
    const { code, output } = await runShell(
      `npx xml2er ${inputs.map((one) => `'${one}'`).join(' ')} --xsd '${join(corpusDirectory, xsd)}' --missing wildcard --prune -o 'sqlite:${file}'`,
      environment,
    );
    expect(code, output).toBe(0);
    const database = new DatabaseSync(file, { readOnly: true });
    trial.keep(database, async (open) => open.close());
    const query = async (sql: string): Promise<string[]> => {
      const rows = database.prepare(sql).all();
      expect(rows.length, sql).toBeGreaterThan(0);
      return formatTable(rows);
    };
    expect(await walk(`docs/how-to/${page}`, { folder, environment, query })).toEqual([]);
  });
});
