#!/usr/bin/env node
/**
 * The command `conversion-job-service`: without arguments the service, with `worker` a process that only runs jobs, with `migrate` or
 * `unload` those commands, and with other words the commands of an operator.
 */
import { launch } from './launch.mjs';

const [word, ...rest] = process.argv.slice(2);

if (word === undefined) await launch('service/service', []);
else if (word === 'worker' && rest.length === 0) await launch('service/worker', []);
else if (word === 'migrate') await launch('service/migrate', rest);
else if (word === 'unload') await launch('tools/unload', rest);
else await launch('service/administer', [word, ...rest]);
