/** The command `unload`; see src/tools/cli/usage.ts for its options. */
import { removeDocuments } from '../write-back/remove-documents.ts';
import { runTool } from '../cli/run-tool.ts';

process.exitCode = await runTool('unload', process.argv.slice(2), removeDocuments);
