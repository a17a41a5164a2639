/** Messages about wrong settings. */

/** Wrong settings: every complaint names its property. The service does not start with them. */
export class ConfigError extends Error {
  readonly complaints: readonly string[];

  constructor(complaints: readonly string[]) {
    super(complaints.join('\n'));
    this.name = 'ConfigError';
    this.complaints = complaints;
  }
}
