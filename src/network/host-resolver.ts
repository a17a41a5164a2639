/** Names as this machine resolves them: its hosts file, then DNS. */
import { lookup } from 'node:dns/promises';
import { AppError } from '../errors.ts';
import type { HostResolver } from '../ports/network.ts';

const timeoutMs = 10_000;

export function createHostResolver(): HostResolver {
  return {
    async resolve(name) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(unresolved(name, 'no answer')), timeoutMs);
      });
      try {
        const found = await Promise.race([lookup(name, { all: true, order: 'verbatim' }), late]);
        return [...new Set(found.map(({ address }) => address))];
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw unresolved(name, (error as NodeJS.ErrnoException).code ?? 'unknown');
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function unresolved(name: string, reason: string): AppError {
  return new AppError('service_unavailable', `the name ${name} cannot be resolved (${reason})`);
}
