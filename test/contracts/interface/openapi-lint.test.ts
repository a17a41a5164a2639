/** The linters of the field over the OpenAPI document; `npm run lint:openapi` runs them by hand. They are too heavy to be dependencies. */
import { beforeAll, describe, expect, it } from 'vitest';
import { installLinters, lintOpenApi, type Linters } from '../../../scripts/lint-openapi/linters.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { needs, skipFor } from '../../support/needs.ts';
import { firstLine, toolCache } from '../../support/tool-cache.ts';

describe('the OpenAPI document', needs('whole run'), () => {
  let linters: Linters | null = null;
  /** why there are none */
  let lack = '';
  let document: string;

  beforeAll(async () => {
    linters = await installLinters(toolCache('openapi-linters')).catch((error: unknown) => {
      lack = firstLine(error);
      return null;
    });
    const { app } = await createTestApp();
    document = await (await app.request('/doc')).text();
  });

  it.for(['spectral', 'redocly'] as const)(
    'passes %s without an error or a warning',
    async (name, context) => {
      if (linters === null) return skipFor(context, 'openapi linters', lack);
      const { passed, output } = await lintOpenApi(linters, name, document);
      expect(passed, output).toBe(true);
    },
  );

  it.for(['spectral', 'redocly'] as const)('would not pass %s with a fault in it', async (name, context) => {
    if (linters === null) return skipFor(context, 'openapi linters', lack);
    const broken = JSON.parse(document) as { paths: Record<string, { get?: { operationId?: string } }> };
    broken.paths['/v2/about/org']!.get!.operationId = broken.paths['/v2/schema/all']!.get!.operationId!;
    expect((await lintOpenApi(linters, name, JSON.stringify(broken))).passed).toBe(false);
  });
});
