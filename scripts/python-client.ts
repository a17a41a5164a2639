/** `npm run client:python`: the models and operations of clients/python, written anew from the OpenAPI document of this source. */
import { writeFileSync } from 'node:fs';
import { generatedPython } from './python-client/modules.ts';

for (const [path, text] of Object.entries(await generatedPython()))
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
