/** JSON with whole numbers of 64 bits: identifiers of snapshots that other programs draw are longer than a number of JavaScript. */

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const reviver: Reviver = (_, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context!.source!)
    : value;

/** Whole numbers that a number cannot hold exactly are bigint. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

export function exactText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  );
}
