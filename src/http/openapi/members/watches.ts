/** Texts for the members of watches and their files. */
import type { MemberTexts } from './texts.ts';

const settings = {
  name: 'Its name, which no other watch of the organisation has.',
  location: 'Where new documents come: a folder, `s3://BUCKET/PREFIX/`, or the address of one file.',
  pattern:
    'What names below the location look like, as patterns of inputs; null: documents (`*.xml`) and archives.',
  id_sch:
    'The schema that documents are read by; null: the first of them make it, or `options` names an XSD set.',
  target: 'Where rows go, as for `-o`.',
  options:
    'Further flags of `xml2er` with their values: text, number, `true` for a flag without one, or a list.',
  every: 'How often it looks: a duration, or five fields of cron in UTC.',
  order: 'Which files are loaded first.',
  settle: 'How long a file must not have changed before it is loaded, as a duration.',
  on_error: 'fail: a bad document keeps its file out; skip: the other documents of the file are loaded.',
  on_drift:
    'What documents do that hold content unknown to the schema: evolve makes its next version, and the target gets it; keep leaves it in `_unmapped`; fail loads nothing and pauses the watch. Schemas of XSDs do not evolve: what they do not know is kept in `_unmapped`.',
  max_files: 'Files that one job loads at most.',
  max_bytes: 'Bytes of them; a larger file is a job by itself.',
  credential: 'Name of the credential that the location is read with; null: that of the operator’s source.',
  paused: 'It does nothing until it is resumed.',
};

export const watchMembers: MemberTexts = {
  NewWatch: settings,
  WatchChange: settings,
  WatchRun: {
    retry: 'Rejected files wait again.',
    names: 'Those of these names alone.',
  },
  Watch: {
    ...settings,
    id_watch: 'The watch.',
    created: 'When it was made, epoch milliseconds.',
    next_run: 'When it looks next, epoch milliseconds; null while it is paused.',
    last_run: 'When it looked last by its schedule, epoch milliseconds; null: it has not.',
    id_job: 'The job that loads files of it now; null: none does.',
    stalled: 'Why nothing is loaded, in a sentence; null: all is well.',
    stalled_at: 'Since when, epoch milliseconds.',
    files: 'Files by state.',
    waiting_bytes: 'Size of the files that wait.',
    waiting_since: 'When the oldest of them was met, epoch milliseconds; null: none waits.',
  },
  WatchFileCounts: {
    waiting: 'Met, and not loaded yet.',
    loading: 'In a job that has not ended.',
    loaded: 'Their rows are in the target.',
    rejected: 'Kept aside, with a reason.',
    ignored: 'Gone or changed before they were loaded, or met again with the same content.',
    replaced: 'Their documents are not in the target, as those of later files took their place.',
  },
  WatchFile: {
    name: 'Its name below the location.',
    version: 'Its ETag; of a file of a disk, when it was changed and its size.',
    bytes: 'Its size.',
    modified: 'When it was changed, epoch milliseconds; null where that is not told.',
    sha256: 'Of its content, once it has been read.',
    status: 'Where it stands.',
    id_job: 'The job that loads, has loaded or has rejected it.',
    reason: 'Why it was rejected or ignored; of a loaded file, what of it was not loaded.',
    replaced_by: 'The file whose documents took the place of its own; null: it is not replaced.',
    seen_at: 'When this version was first met, or was last tried again, epoch milliseconds.',
  },
};
