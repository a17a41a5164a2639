#!/usr/bin/env node
/** The command `xml2er`: documents to rows. */
import { launch } from './launch.mjs';

await launch('tools/xml2er', process.argv.slice(2));
