/** Ten standards, and three questions to the documents of each; they were written before their tables were looked at. */
import { camt053 } from './camt053.ts';
import { eforms } from './eforms.ts';
import { fpml } from './fpml.ts';
import { musicxml } from './musicxml.ts';
import { netex } from './netex.ts';
import { odm } from './odm.ts';
import { oval } from './oval.ts';
import { remit } from './remit.ts';
import { siri } from './siri.ts';
import { sumo } from './sumo.ts';

export const standards = [camt053, eforms, fpml, netex, siri, odm, musicxml, oval, sumo, remit] as const;
