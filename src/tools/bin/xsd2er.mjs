#!/usr/bin/env node
/** The command `xsd2er`: an XSD set to an origin and its tables. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../commands/xsd2er.ts', import.meta.url)), process.argv.slice(2));
