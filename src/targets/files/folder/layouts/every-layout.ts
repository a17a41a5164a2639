/** The registry of layouts of files. A new one is an entry of src/ports/rows/layouts.ts, a file beside this one, and a member here. */
import type { FileLayoutName } from '../../../../ports/rows/layouts.ts';
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import { writeDurably } from '../../../../adapters/file-staging/durable-file.ts';
import type { TargetManifest } from '../contents/manifest.ts';
import type { FolderLayout, ScriptConditions } from './folder-layout.ts';
import { parquet } from './parquet.ts';
import { csv, jsonl, tsv } from './text.ts';
import { xlsx } from './xlsx.ts';

const layouts: Readonly<Record<FileLayoutName, FolderLayout>> = { csv, tsv, jsonl, parquet, xlsx };

export function layoutOf(name: FileLayoutName): FolderLayout {
  return layouts[name];
}

/** Returns the names of the scripts that lie beside the rows of a folder. */
export function scriptNames(manifest: ScriptConditions): readonly string[] {
  return layoutOf(manifest.format)
    .scripts.filter((script) => script.isBeside(manifest))
    .map(({ name }) => name);
}

/** Whether folders of the layout may have that script. */
export function hasScript(format: FileLayoutName, name: string): boolean {
  return layoutOf(format).scripts.some((script) => script.name === name);
}

/** Writes the scripts into the folder, one at a time and a piece at a time, as those of many tables are long. Returns their names. */
export async function writeScripts(
  directory: string,
  plan: SinkPlan,
  manifest: TargetManifest,
): Promise<string[]> {
  const names: string[] = [];
  for (const script of layoutOf(manifest.format).scripts) {
    if (!script.isBeside(manifest)) continue;
    await writeDurably(directory, script.name, await script.render(plan, manifest));
    names.push(script.name);
  }
  return names;
}
