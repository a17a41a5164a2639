/** `npm start`: the service, until SIGTERM. */
import { startService, runUntilSignal } from './service.ts';

void runUntilSignal(() =>
  startService({
    environment: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    write: (line) => process.stderr.write(line),
  }),
);
