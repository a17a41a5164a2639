/** The command `xml2er`; see src/tools/cli/usage.ts for its options. */
import { convertXml } from '../convert/documents.ts';
import { runTool } from '../cli/run-tool.ts';

process.exitCode = await runTool('xml2er', process.argv.slice(2), convertXml);
