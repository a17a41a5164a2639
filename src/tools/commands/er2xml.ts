/** The command `er2xml`; see src/tools/cli/usage.ts for its options. */
import { convertBack } from '../write-back/convert-back.ts';
import { runTool } from '../cli/run-tool.ts';

process.exitCode = await runTool('er2xml', process.argv.slice(2), convertBack);
