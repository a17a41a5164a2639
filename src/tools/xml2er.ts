/** The command `xml2er`; see usage.ts for its options. */
import { convertXml } from './convert-xml.ts';
import { runTool } from './run-tool.ts';

process.exitCode = await runTool('xml2er', process.argv.slice(2), convertXml);
