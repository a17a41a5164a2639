/** What is checked on machines, and how: OVAL 5.11 definitions. */
import type { Standard, Value } from '../kinds.ts';

const state = (take: string): Value => ({
  key: 'l:state/@state_ref',
  among: '//d:states/l:rpminfo_state',
  by: '@id',
  take,
});

export const oval: Standard = {
  name: 'oval',
  title: 'OVAL 5.11',
  xsd: 'scap/schemas/oval/5.11.3/oval-definitions-schema.xsd',
  documents: ['scap/docs/ssg-opensuse-cpe-oval.xml'],
  namespaces: {
    d: 'http://oval.mitre.org/XMLSchema/oval-definitions-5',
    l: 'http://oval.mitre.org/XMLSchema/oval-definitions-5#linux',
  },
  questions: [
    {
      text: 'What is each definition for: id, class, title, family and name of the platform, references?',
      rows: '//d:definition/d:metadata/d:affected/d:platform',
      columns: {
        definition: '../../../@id',
        class: '../../../@class',
        title: '../../d:title',
        family: '../@family',
        platform: '.',
        references: 'count(../../d:reference)',
      },
    },
    {
      text: 'Which tests decide each definition, however deep: definition, operator around the test (AND where none is written), comments of criterion and test?',
      rows: '//d:criterion',
      columns: {
        definition: 'ancestor::d:definition/@id',
        operator: 'concat(../@operator, substring("AND", 1, 3 * not(../@operator)))',
        criterion: '@comment',
        test: { key: '@test_ref', among: '//d:tests/*', by: '@id', take: '@comment' },
      },
    },
    {
      text: 'What do tests of packages look at: test, comment, name of the package, how its version is compared, with what?',
      rows: '//d:tests/l:rpminfo_test',
      columns: {
        test: '@id',
        comment: '@comment',
        package: {
          key: 'l:object/@object_ref',
          among: '//d:objects/l:rpminfo_object',
          by: '@id',
          take: 'l:name',
        },
        operation: state('l:version/@operation'),
        version: state('l:version'),
      },
    },
  ],
};
