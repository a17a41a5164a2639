/** Skipped cases of the conformance suite, by the reason why. */
export const skippedCases: Readonly<Record<string, readonly string[]>> = {};
