/** Descriptions of members: by structure, then by member. */
export type MemberTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;
