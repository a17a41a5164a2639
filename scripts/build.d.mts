import type * as Esbuild from 'esbuild';

export const forNode: Esbuild.BuildOptions;
export function constants(esbuild: typeof Esbuild): Promise<Record<string, string>>;
export function buildPrograms(
  esbuild: typeof Esbuild,
  folder: string,
  define: Readonly<Record<string, string>>,
): Promise<void>;
