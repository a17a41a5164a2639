/** Runtimes that cannot run the service are refused by name, before anything is opened. */
import { describe, expect, it } from 'vitest';
import { runtimeFault } from '../../../src/runtime/unfit-runtime.ts';

const works = () => Promise.resolve();
const fails = () => Promise.reject(new Error('no such option: --min-semi-space-size\nusage: …'));
const never = (): never => {
  throw new Error('nothing is to be tried');
};

describe('a runtime', () => {
  it.each(['22.18.0', '22.19.1', '24.0.0', '26.10.0'])('Node %s runs the service', async (node) => {
    expect(await runtimeFault({ node }, false, never)).toBeNull();
  });

  it.each(['18.20.0', '20.19.4', '22.17.9'])('Node %s is too old', async (node) => {
    expect(await runtimeFault({ node }, true, never)).toBe(
      `conversion-job-service needs Node 22.18 or later. Running is ${node}.`,
    );
  });

  it('without processes is refused', async () => {
    expect(await runtimeFault({}, true, never)).toMatch(/needs Node 22\.18 .*no processes.*createApp/);
  });

  it.each(['bun', 'deno'])('%s is tried with a tool', async (name) => {
    const versions = { node: '26.3.0', [name]: '1.4.5' };
    expect(await runtimeFault(versions, false, works)).toBeNull();
    expect(await runtimeFault(versions, false, fails)).toBe(
      `conversion-job-service needs Node 22.18 or later. ${name} 1.4.5 cannot run its tools: no such option: --min-semi-space-size`,
    );
    expect(await runtimeFault(versions, true, never)).toBeNull();
  });

  it('that is this one runs its tools', async () => {
    expect(await runtimeFault({ node: '26.3.0', bun: '1.4.5' }, false)).toBeNull();
  });
});
