/** Types of src/tools/bin/modules/rewrite.mjs. */
export interface RewrittenModule {
  readonly code: string;
  readonly awaits: boolean;
  readonly imports: readonly string[];
  readonly wanted: readonly (readonly string[])[];
  readonly hoisted: readonly string[];
  readonly exports: readonly string[];
}
export function rewrite(source: string, mayAwait?: boolean): RewrittenModule | null;
export function withoutTypes(source: string): string;
