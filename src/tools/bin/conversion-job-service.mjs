#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

const args = process.argv.slice(2);
/** Without arguments it is the service; with them, what an operator does to its keys, organisations and audit log. */
const entry = args.length > 0 ? '../administer.ts' : '../../runtime/node.ts';

await launch(fileURLToPath(new URL(entry, import.meta.url)), args);
