/** Members of structures with what they are: by structure, then by member. */
export type MemberTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;
