#!/usr/bin/env node
/** The command `xsd2er`: an XSD set to an origin and its tables. */
import { launch } from './launch.mjs';

await launch('tools/xsd2er', process.argv.slice(2));
