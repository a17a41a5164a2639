/** The command `er2xml`; see src/tools/cli/usage.ts for its options. */
import { runCommand } from '../cli/run-command.ts';

void runCommand('er2xml', async (session) => {
  const { convertBack } = await import('../write-back/convert-back.ts');
  return convertBack(session);
});
