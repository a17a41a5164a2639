/** Members of archives, whatever the archive is. */
import type { InputMember } from '../members.ts';

export type ArchiveMember = Pick<InputMember, 'name' | 'carried' | 'chunks'>;

/** A member as it is stored in its archive. */
export interface PackedMember extends ArchiveMember {
  /** bytes of the archive that were read for it and those before it */
  packedBytes(): number;
  /** kind of a member that is not a file whose content can be read; null: it is such a file */
  readonly oddity: string | null;
}
