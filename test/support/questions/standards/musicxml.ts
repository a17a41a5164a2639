/** Scores in MusicXML. */
import type { Standard, Value } from '../kinds.ts';

const part = (key: string): Value => ({
  key,
  among: '/score-partwise/part-list/score-part',
  by: '@id',
  take: 'part-name',
});

const midi = (take: string): Value => ({
  key: '@id',
  among: '/score-partwise/part-list/score-part/midi-instrument',
  by: '@id',
  take,
});

export const musicxml: Standard = {
  name: 'musicxml',
  title: 'MusicXML',
  xsd: 'musicxml/schema/schema/musicxml.xsd',
  documents: [
    'musicxml/io/testLyrics1.xml',
    'musicxml/io/testNumberedLyrics.xml',
    'musicxml/io/testNotesRests1.xml',
    'musicxml/io/testMultiInstrumentPart2.xml',
    'musicxml/io/testHarmony2.xml',
  ],
  namespaces: {},
  questions: [
    {
      text: 'What is sung: title, part, measure, tone, octave, length of the note, verse, syllable?',
      rows: '//note/lyric',
      columns: {
        title: '/score-partwise/work/work-title',
        part: part('ancestor::part/@id'),
        measure: 'ancestor::measure/@number',
        tone: '../pitch/step',
        octave: '../pitch/octave',
        length: '../type',
        verse: '@number',
        syllable: 'text',
      },
    },
    {
      text: 'Which instruments play: title, part, instrument, its channel and program in MIDI?',
      rows: '//score-part/score-instrument',
      columns: {
        title: '/score-partwise/work/work-title',
        part: '../part-name',
        instrument: 'instrument-name',
        channel: midi('midi-channel'),
        program: midi('midi-program'),
      },
    },
    {
      text: 'How full is each measure: title, part, measure, number of notes, rests and chords, sum of durations?',
      rows: '//part/measure',
      columns: {
        title: '/score-partwise/work/work-title',
        part: part('../@id'),
        measure: '@number',
        notes: 'count(note[not(rest)])',
        rests: 'count(note[rest])',
        harmonies: 'count(harmony)',
        duration: 'sum(note/duration)',
      },
    },
  ],
};
