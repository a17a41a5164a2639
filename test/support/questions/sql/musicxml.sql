-- Scores: the three questions of standards/musicxml.ts.

select score.work_title, sp.part_name, m.number, n.pitch_step, n.pitch_octave, n.type, l.number as verse, t.value
  from lyric l
  join note n using (note_key)
  join measure m using (measure_key)
  join part p using (part_key)
  join score_partwise score using (score_partwise_key)
  join score_part sp on sp.document_key = p.document_key and sp.id = p.id
  left join text t using (lyric_key);

select score.work_title, sp.part_name, i.instrument_name, midi.midi_channel, midi.midi_program
  from score_instrument i
  join score_part sp using (score_part_key)
  join score_partwise score using (score_partwise_key)
  left join midi_instrument midi on midi.document_key = i.document_key and midi.id = i.id;

select score.work_title, sp.part_name, m.number,
       count(n.note_key) filter (where n.rest is null) as notes, count(n.rest) as rests,
       (select count(*) from harmony h where h.measure_key = m.measure_key) as harmonies,
       coalesce(sum(n.duration), 0) as duration
  from measure m
  join part p using (part_key)
  join score_partwise score using (score_partwise_key)
  join score_part sp on sp.document_key = p.document_key and sp.id = p.id
  left join note n using (measure_key)
 group by m.measure_key, score.work_title, sp.part_name;
