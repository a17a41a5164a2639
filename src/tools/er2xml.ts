/** The command `er2xml`; see usage.ts for its options. */
import { convertBack } from './convert-back.ts';
import { runTool } from './run-tool.ts';

process.exitCode = await runTool('er2xml', process.argv.slice(2), convertBack);
