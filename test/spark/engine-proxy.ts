/** Node as executors start it, behind a script that sees what is asked of the engine, and what it answers. */
import { chmod, writeFile } from 'node:fs/promises';

/**
 * Writes the program. The script is run for each request: `$unit` is the unit, `$2` the work folder, `$engine` the engine's process;
 * `give` hands the request on, `take` waits for the answer, which is told when the script has ended. What it has not called is called then.
 */
export async function writeEngineProxy(path: string, script: string): Promise<string> {
  const text = `#!/bin/bash
coproc ENGINE { exec '${process.execPath}' "$@"; }
engine=$ENGINE_PID to=\${ENGINE[1]} from=\${ENGINE[0]}
give() { given=1; echo "$unit" >&"$to"; }
take() { taken=1; read -r answer <&"$from" || exit 9; }
while read -r unit; do
given= taken=
${script}
[ -n "$given" ] || give
[ -n "$taken" ] || take
echo "$answer"
done
`;
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}
