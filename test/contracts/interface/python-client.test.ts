/** The Python client has what the OpenAPI document of this source has: its models and operations are those that are written of it. */
import { expect, it } from 'vitest';
import { generatedPython } from '../../../scripts/python-client/modules.ts';
import { pythonName } from '../../../scripts/python-client/types.ts';
import { readText } from '../../rules/project-files.ts';

it('is what `npm run client:python` writes', async () => {
  for (const [path, text] of Object.entries(await generatedPython())) expect(readText(path), path).toBe(text);
});

it.each([
  ['idSch', 'id_sch'],
  ['Idempotency-Key', 'idempotency_key'],
  ['Last-Event-ID', 'last_event_id'],
  ['from', 'from_'],
  ['getSchemaDdl', 'get_schema_ddl'],
])('writes %s as %s', (name, python) => {
  expect(pythonName(name)).toBe(python);
});
