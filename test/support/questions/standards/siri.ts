/** Arrivals at stops, in real time: SIRI. */
import type { Standard } from '../kinds.ts';

export const siri: Standard = {
  name: 'siri',
  title: 'SIRI',
  xsd: 'siri/xsd/siri.xsd',
  documents: [
    'siri/examples/siri_exm_SM/exs_stopMonitoring_response.xml',
    'siri/examples/siri_exm_SM/exs_stopMonitoring_response_complex.xml',
    'siri/examples/siri_exm_SM/exs_stopMonitoring_response_simple.xml',
    'siri/examples/siri_exm_VM/exv_vehicleMonitoring_response.xml',
  ],
  namespaces: { s: 'http://www.siri.org.uk/siri' },
  questions: [
    {
      text: 'What comes to the stop: visit, line, destination, vehicle, aimed and expected arrival?',
      rows: '//s:MonitoredStopVisit',
      columns: {
        visit: 's:ItemIdentifier',
        line: 's:MonitoredVehicleJourney/s:LineRef',
        destination: 's:MonitoredVehicleJourney/s:DestinationName',
        vehicle: 's:MonitoredVehicleJourney/s:VehicleRef',
        aimed: 's:MonitoredVehicleJourney/s:MonitoredCall/s:AimedArrivalTime',
        expected: 's:MonitoredVehicleJourney/s:MonitoredCall/s:ExpectedArrivalTime',
      },
    },
    {
      text: 'Where do vehicles at the stop go on to: visit, line, stop, its name, expected arrival there?',
      rows: '//s:MonitoredStopVisit/s:MonitoredVehicleJourney/s:OnwardCalls/s:OnwardCall',
      columns: {
        visit: 'ancestor::s:MonitoredStopVisit/s:ItemIdentifier',
        line: '../../s:LineRef',
        stop: 's:StopPointRef',
        name: 's:StopPointName',
        expected: 's:ExpectedArrivalTime',
      },
    },
    {
      text: 'Via which places do vehicles run that are watched under way: activity, line, delay, place?',
      rows: '//s:VehicleActivity/s:MonitoredVehicleJourney/s:Via',
      columns: {
        activity: '../../s:ItemIdentifier',
        line: '../s:LineRef',
        delay: '../s:Delay',
        place: 's:PlaceName',
      },
    },
  ],
};
