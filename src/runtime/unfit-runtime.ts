/** Whether this runtime can run the service and its tools. */

/** First release that runs the service, as in bin/launch.mjs and in `engines` of the published package. */
const oldestNode = [22, 18] as const;
/** time for a tool to say its version */
const probeMs = 30_000;

type Versions = Readonly<Record<string, string | undefined>>;

/**
 * Returns the reason why the service cannot run here; null if it can. Runtimes that take the place of Node are tried with a tool, unless
 * the host has a runner of its own for them.
 */
export async function runtimeFault(
  versions: Versions,
  hasRunner: boolean,
  tryTool: () => Promise<void> = sayVersion,
): Promise<string | null> {
  const needed = `conversion-job-service needs Node ${oldestNode.join('.')} or later`;
  const { node } = versions;
  if (node === undefined)
    return `${needed}. This runtime has no processes; createApp serves requests here, and workers on Node run the jobs.`;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]))
    return `${needed}. Running is ${node}.`;
  const name = ['bun', 'deno'].find((other) => versions[other] !== undefined);
  if (name === undefined || hasRunner) return null;
  try {
    await tryTool();
    return null;
  } catch (error) {
    const [reason] = (error as Error).message.trim().split('\n');
    return `${needed}. ${name} ${versions[name]} cannot run its tools: ${reason}`;
  }
}

/** Starts a tool as the runner of tools does. */
async function sayVersion(): Promise<void> {
  const [{ execFile }, { promisify }, { launcher }] = await Promise.all([
    import('node:child_process'),
    import('node:util'),
    import('../installation.ts'),
  ]);
  const words = ['--min-semi-space-size=4', launcher, 'tools/xml2er', '--version'];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: probeMs });
  if (!stdout.startsWith('xml2er ')) throw new Error(`xml2er --version wrote ${JSON.stringify(stdout)}`);
}
