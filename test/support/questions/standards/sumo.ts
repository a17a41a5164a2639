/** Roads and their traffic lights: networks of SUMO. */
import type { Standard, Value } from '../kinds.ts';

const junction = (take: string): Value => ({ key: '@id', among: '/net/junction', by: '@id', take });

export const sumo: Standard = {
  name: 'sumo',
  title: 'SUMO network',
  xsd: 'sumo/xsd/net_file.xsd',
  documents: ['sumo/docs/network.net.xml'],
  namespaces: {},
  questions: [
    {
      text: 'What is each road: edge, from, to, number of its lanes, their length together?',
      rows: '/net/edge[@from]',
      columns: {
        edge: '@id',
        origin: '@from',
        destination: '@to',
        lanes: 'count(lane)',
        length: 'sum(lane/@length)',
      },
    },
    {
      text: 'Where do traffic lights stand, and how long is a cycle: id, type of the junction, its place, phases, seconds?',
      rows: '/net/tlLogic',
      columns: {
        light: '@id',
        junction: junction('@type'),
        x: junction('@x'),
        y: junction('@y'),
        phases: 'count(phase)',
        seconds: 'sum(phase/@duration)',
      },
    },
    {
      text: 'How does one drive over junctions: edge, next edge, direction, state, length of the lane between?',
      rows: '/net/connection[@via]',
      columns: {
        origin: '@from',
        destination: '@to',
        direction: '@dir',
        state: '@state',
        length: { key: '@via', among: '/net/edge/lane', by: '@id', take: '@length' },
      },
    },
  ],
};
