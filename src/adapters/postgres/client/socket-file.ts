/** Finds the Unix socket of the embedded database, which has another name if the server had to use another port. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The file, or the one other socket of PostgreSQL in its folder, which is private to one server. */
export function presentSocket(path: string): string {
  if (existsSync(path)) return path;
  const folder = dirname(path);
  try {
    const others = readdirSync(folder).filter((name) => /^\.s\.PGSQL\.\d+$/.test(name));
    return others.length === 1 ? join(folder, others[0]!) : path;
  } catch {
    return path;
  }
}
