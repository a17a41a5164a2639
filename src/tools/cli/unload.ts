/** The command `unload`; see src/tools/cli/run-tool.ts for its options. */
import { runCommand } from './run-tool.ts';

void runCommand('unload', async (session) => {
  const { removeDocuments } = await import('../write-back/remove-documents.ts');
  return removeDocuments(session);
});
