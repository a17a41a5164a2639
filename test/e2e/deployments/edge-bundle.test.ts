/** The application bundles for the edge runtime, and nothing of Node is in the bundle. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../rules/project-files.ts';
import { useTrial } from '../../support/service/trial.ts';

const run = promisify(execFile);

describe('the bundle for the edge', () => {
  const trial = useTrial();
  let folder: string;
  let bundle: string;

  beforeAll(async () => {
    folder = await trial.folder('edge-bundle-');
    await run(
      process.execPath,
      ['node_modules/wrangler/bin/wrangler.js', 'deploy', '--dry-run', '--outdir', folder, 'src/app.ts'],
      {
        cwd: projectRoot,
        env: {
          ...process.env,
          XDG_CONFIG_HOME: folder,
          CLOUDFLARE_CF_FETCH_ENABLED: 'false',
          WRANGLER_SEND_METRICS: 'false',
        },
      },
    );
    bundle = await readFile(join(folder, 'app.js'), 'utf8');
  });

  it('holds the application', () => {
    expect(bundle).toContain('createApp');
    expect(bundle).toContain('/v2/run/cmd');
  });

  it('imports nothing: neither Node nor the database client', () => {
    const imports = bundle.match(/^import .*$|(?<![.\w])require\("[^"]+"\)|\bimport\("[^"]+"\)/gm) ?? [];
    expect(imports).toEqual([]);
  });

  it('exports createApp', async () => {
    const module = (await import(join(folder, 'app.js'))) as Record<string, unknown>;
    expect(Object.keys(module)).toEqual(['createApp']);
  });
});
