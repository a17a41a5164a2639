/** Timetables of buses in NeTEx. */
import type { Standard } from '../kinds.ts';

export const netex: Standard = {
  name: 'netex',
  title: 'NeTEx',
  xsd: 'netex/xsd/NeTEx_publication.xsd',
  documents: [
    'netex/examples/functions/timetable/Netex_01.1_Bus_SimpleTimetable_JourneysOnly.xml',
    'netex/examples/functions/timetable/Netex_01.2_Bus_SimpleTimetable_WithTimings.xml',
  ],
  namespaces: { n: 'http://www.netex.org.uk/netex' },
  questions: [
    {
      text: 'When does each journey call at each stop: journey, order of the call, name of the stop, arrival, departure?',
      rows: '//n:ServiceJourney/n:calls/n:Call',
      columns: {
        journey: '../../@id',
        call: '@order',
        stop: {
          key: 'n:ScheduledStopPointRef/@ref',
          among: '//n:scheduledStopPoints/n:ScheduledStopPoint',
          by: '@id',
          take: 'n:Name',
        },
        arrival: 'n:Arrival/n:Time',
        departure: 'n:Departure/n:Time',
      },
    },
    {
      text: 'On which days does each journey run: journey, its departure, name of the day type, days of the week?',
      rows: '//n:ServiceJourney/n:dayTypes/n:DayTypeRef',
      columns: {
        journey: '../../@id',
        departure: '../../n:DepartureTime',
        days: { key: '@ref', among: '//n:dayTypes/n:DayType', by: '@id', take: 'n:Name' },
        week: {
          key: '@ref',
          among: '//n:dayTypes/n:DayType',
          by: '@id',
          take: 'n:properties/n:PropertyOfDay/n:DaysOfWeek',
        },
      },
    },
    {
      text: 'Which lines are there: id, name, public code, means of transport, name of the operator?',
      rows: '//n:lines/n:Line',
      columns: {
        line: '@id',
        name: 'n:Name',
        code: 'n:PublicCode',
        mode: 'n:TransportMode',
        operator: {
          key: 'n:OperatorRef/@ref',
          among: '//n:organisations/n:Operator',
          by: '@id',
          take: 'n:Name',
        },
      },
    },
  ],
};
