/** `node --import` on executors of a bench: what a process of the engine has spent so far, told after each unit, a line of JSON in a file. */
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';

const file = process.env.ENGINE_TIMES;
// the program that looks for a Node has no work folder, and nothing to tell
const pass = basename(process.argv[2] ?? '').replace(/^\d+-/, '');
const write = process.stdout.write.bind(process.stdout);

process.stdout.write = (text, ...more) => {
  if (String(text).startsWith('{"unit":')) {
    const { user, system } = process.cpuUsage();
    appendFileSync(file, `${JSON.stringify({ pid: process.pid, pass, seconds: (user + system) / 1e6 })}\n`);
  }
  return write(text, ...more);
};
