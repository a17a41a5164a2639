/** The command `unload`; see src/tools/cli/usage.ts for its options. */
import { runCommand } from '../cli/run-command.ts';

void runCommand('unload', async (session) => {
  const { removeDocuments } = await import('../write-back/remove-documents.ts');
  return removeDocuments(session);
});
