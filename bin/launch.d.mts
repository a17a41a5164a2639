export function launch(name: string, args: readonly string[]): Promise<void>;
export function importSource(path: string, args: readonly string[]): Promise<void>;
export function isBuildCurrent(build: string, source: string): boolean;
