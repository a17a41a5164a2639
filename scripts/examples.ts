/** `npm run examples`: writes anew what the reference shows as answers, from a service that gives them; the difference is yours to read. */
import { writeFile } from 'node:fs/promises';
import { recordFromServices } from './examples/services.ts';

const file = new URL('../src/http/openapi/recorded.json', import.meta.url);
const { answers, problems } = await recordFromServices();
await writeFile(file, `${JSON.stringify({ answers, problems }, null, 2)}\n`);
console.log(`${Object.keys(answers).length} answers, ${Object.keys(problems).length} errors`);
