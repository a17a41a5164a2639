/** The command `xsd2er`; see src/tools/cli/usage.ts for its options. */
import { convertXsd } from '../schemas/convert-xsd.ts';
import { runTool } from '../cli/run-tool.ts';

process.exitCode = await runTool('xsd2er', process.argv.slice(2), convertXsd);
