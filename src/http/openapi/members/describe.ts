/** Gives the members of structures their descriptions. */
import { catalogMembers } from './catalog.ts';
import { membersEverywhere } from './everywhere.ts';
import { feedMembers } from './feeds.ts';
import { jobMembers } from './jobs.ts';
import { operatingMembers } from './operating.ts';
import type { MemberTexts } from './texts.ts';
import { watchMembers } from './watches.ts';

const texts: MemberTexts = {
  ...jobMembers,
  ...catalogMembers,
  ...feedMembers,
  ...operatingMembers,
  ...watchMembers,
};

interface DescribedSchema {
  description?: string;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
}

/**
 * Adds descriptions to members of the structures that have none; a member that refers to a structure is described by that. Throws for
 * texts that belong to no member, because nobody would read them.
 */
export function describeMembers(structures: Readonly<Record<string, object>>): void {
  for (const [name, structure] of Object.entries(structures)) {
    const { properties = {} } = structure as DescribedSchema;
    const own = texts[name] ?? {};
    for (const [member, schema] of Object.entries(properties)) {
      const text = own[member] ?? membersEverywhere[member];
      if (text !== undefined && !('$ref' in schema)) schema.description ??= text;
    }
    const strays = Object.keys(own).filter((member) => properties[member] === undefined);
    if (strays.length > 0) throw new TypeError(`${name} has no member ${strays.join(', ')}`);
  }
}
