/** The tutorial, step by step, with the output that it shows. */
import { describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { walk } from './walk.ts';

describe('docs/tutorial/your-own-file.md', { timeout: 120_000 }, () => {
  const trial = useTrial();

  it('shows the output of its commands', needs(['sqlite3', 'xmllint']), async () => {
    const folder = await trial.folder('tutorial-');
    const { url } = await trial.emptyDatabase();
    const faults = await walk('docs/tutorial/your-own-file.md', {
      environment: { SVC_HOME: `${folder}/home`, SVC_METADB_URL: url },
      folder,
      // the demo is run by test/e2e/readme/commands.test.ts
      skip: ({ code }) => code.startsWith('npm ci'),
    });
    expect(faults).toEqual([]);
  });
});
