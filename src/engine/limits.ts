/** Limits on untrusted input; each is overridable as `svc.limits.*`. Sizes in bytes, times in milliseconds. */
export interface EngineLimits {
  readonly xmlMaxDepth: number;
  readonly xmlMaxAttributes: number;
  readonly xmlMaxNameBytes: number;
  readonly xmlMaxEntityExpansionBytes: number;
  readonly xmlMaxEntityAmplification: number;
  readonly xmlMaxTextBytes: number;
  readonly xsdMaxFiles: number;
  readonly xsdMaxComponents: number;
}

export const defaultEngineLimits: EngineLimits = {
  xmlMaxDepth: 4096,
  xmlMaxAttributes: 10_000,
  xmlMaxNameBytes: 64 * 1024,
  xmlMaxEntityExpansionBytes: 64 * 1024 * 1024,
  xmlMaxEntityAmplification: 100,
  xmlMaxTextBytes: 1024 * 1024 * 1024,
  xsdMaxFiles: 20_000,
  xsdMaxComponents: 5_000_000,
};
