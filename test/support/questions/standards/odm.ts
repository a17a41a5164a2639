/** Clinical studies in CDISC ODM 2.0: forms and what was answered. */
import type { Standard, Value } from '../kinds.ts';

const item = (take: string): Value => ({
  key: '@ItemOID',
  among: '//o:ItemDef',
  by: '@OID',
  take,
});

export const odm: Standard = {
  name: 'odm',
  title: 'CDISC ODM 2.0',
  xsd: 'cdisc-odm/schema/ODM.xsd',
  documents: [
    'cdisc-odm/examples/Atlas_RS/Atlas_QS_ODMv2.xml',
    'cdisc-odm/examples/Chronic_Low_Back_Pain/Chronic_Low_Back_Pain_example.xml',
    'cdisc-odm/examples/Data-Collection/RepeatingIG-UC-D-Example.xml',
    'cdisc-odm/examples/Demographics_RACE/Demographics_RACE_check_all_that_apply.xml',
    'cdisc-odm/examples/Matrix_CRF_From_TAUG_Dyslipidemia_1_0/Hypercholesterolemia_CV_Risk_factors_FH_CRF_alternative_ValueLists.xml',
  ],
  namespaces: { o: 'http://www.cdisc.org/ns/odm/v2.0' },
  questions: [
    {
      text: 'What was answered: study, subject, event, group of items and its number, name of the item, value?',
      rows: '//o:ItemData',
      columns: {
        study: 'ancestor::o:ClinicalData/@StudyOID',
        subject: 'ancestor::o:SubjectData/@SubjectKey',
        event: 'ancestor::o:StudyEventData/@StudyEventOID',
        item_group: '../@ItemGroupOID',
        repeat: '../@ItemGroupRepeatKey',
        item: item('@Name'),
        value: 'o:Value',
      },
    },
    {
      text: 'Which answers may be chosen: code list, its name, code, what the code means in English?',
      rows: '//o:CodeListItem',
      columns: {
        list: '../@OID',
        name: '../@Name',
        code: '@CodedValue',
        meaning: 'o:Decode/o:TranslatedText[@xml:lang = "en"]',
      },
    },
    {
      text: 'What is asked for: item, name, data type, the question in English, name of the code list?',
      rows: '//o:ItemDef',
      columns: {
        item: '@OID',
        name: '@Name',
        type: '@DataType',
        question: 'o:Question/o:TranslatedText[@xml:lang = "en"]',
        list: {
          key: 'o:CodeListRef/@CodeListOID',
          among: '//o:CodeList',
          by: '@OID',
          take: '@Name',
        },
      },
    },
  ],
};
