#!/usr/bin/env node
/** The command `unload`: removes the rows of documents from a target. */
import { launch } from './launch.mjs';

await launch('tools/unload', process.argv.slice(2));
