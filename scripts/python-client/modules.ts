/** The generated modules of the Python client: path from the project's root to text. */
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/properties.ts';
import { createMemoryAdapters } from '../../test/support/memory/adapters.ts';
import { operationsModule, type Operation } from './operations.ts';
import { modelsModule, type Schema } from './types.ts';

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'path' | 'method'>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const folder = 'clients/python/src/conversion_job_service';

/** What the document of this source makes of them. */
export async function generatedPython(): Promise<Readonly<Record<string, string>>> {
  const answer = await createApp(createMemoryAdapters(), readConfig({})).request('/doc', {
    headers: { Accept: 'application/json' },
  });
  const { paths, components } = (await answer.json()) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, path, method: method.toUpperCase() })),
  );
  return {
    [`${folder}/models.py`]: modelsModule(components.schemas),
    [`${folder}/operations.py`]: operationsModule(operations, components.schemas, 'sync'),
    [`${folder}/async_operations.py`]: operationsModule(operations, components.schemas, 'async'),
  };
}
