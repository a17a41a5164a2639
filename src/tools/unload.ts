/** The command `unload`; see usage.ts for its options. */
import { removeDocuments } from './remove-documents.ts';
import { runTool } from './run-tool.ts';

process.exitCode = await runTool('unload', process.argv.slice(2), removeDocuments);
