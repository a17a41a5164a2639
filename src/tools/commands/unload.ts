/** The command `unload`; see src/tools/cli/usage.ts for its options. */
import { removeDocuments } from '../write-back/remove-documents.ts';
import { runCommand } from '../cli/run-command.ts';

await runCommand('unload', removeDocuments);
