#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../commands/xsd2er.ts', import.meta.url)), process.argv.slice(2));
