/** `npm run lint:openapi`: the OpenAPI document under spectral:oas and Redocly's recommended rules. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config/properties.ts';
import { createMemoryAdapters } from '../test/support/memory/adapters.ts';
import { installLinters, lintOpenApi } from './lint-openapi/linters.ts';

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
const linters = await installLinters(join(cache, 'conversion-job-service', 'openapi-linters'));
const document = await (await createApp(createMemoryAdapters(), readConfig({})).request('/doc')).text();
for (const name of ['spectral', 'redocly'] as const) {
  const { passed, output } = await lintOpenApi(linters, name, document);
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name}`);
  if (passed) continue;
  console.log(output);
  process.exitCode = 1;
}
