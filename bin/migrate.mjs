#!/usr/bin/env node
/** The command that exports and imports packages. */
import { launch } from './launch.mjs';

await launch('service/migrate', process.argv.slice(2));
