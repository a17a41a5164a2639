#!/usr/bin/env node
/** The command `er2xml`: rows to documents. */
import { launch } from './launch.mjs';

await launch('tools/er2xml', process.argv.slice(2));
