/** The command `er2xml`; see src/tools/cli/run-tool.ts for its options. */
import { runCommand } from './run-tool.ts';

void runCommand('er2xml', async (session) => {
  const { convertBack } = await import('../write-back/convert-back.ts');
  return convertBack(session);
});
