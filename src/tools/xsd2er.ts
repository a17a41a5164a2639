/** The command `xsd2er`; see usage.ts for its options. */
import { convertXsd } from './convert-xsd.ts';
import { runTool } from './run-tool.ts';

process.exitCode = await runTool('xsd2er', process.argv.slice(2), convertXsd);
