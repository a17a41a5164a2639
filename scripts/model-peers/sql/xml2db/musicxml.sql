-- Scores in the tables of xml2db.

select s."score-partwise_work_work-title", s."score-partwise_part-list_score-part_part-name_value" as part_name, m.number,
       n.pitch_step, n.pitch_octave, n.type_value, l.number as verse, t.value
  from "peer_score-partwise_part" sp
  join peer s on s.pk_peer = sp.fk_peer
  join part_measure pm on pm.fk_part = sp.fk_part
  join measure m on m.pk_measure = pm.fk_measure
  join measure_note mn on mn.fk_measure = m.pk_measure
  join note n on n.pk_note = mn.fk_note
  join note_lyric nl on nl.fk_note = n.pk_note
  join lyric l on l.pk_lyric = nl.fk_lyric
  left join lyric_text lt on lt.fk_lyric = l.pk_lyric
  left join text t on t.pk_text = lt.fk_text;

select s."score-partwise_work_work-title", s."score-partwise_part-list_score-part_part-name_value" as part_name,
       i."instrument-name", midi."midi-channel", midi."midi-program"
  from "peer_score-partwise_part-list_score-part_score-instrument" si
  join peer s on s.pk_peer = si.fk_peer
  join "score-instrument" i on i."pk_score-instrument" = si."fk_score-instrument"
  left join (
    select sm.fk_peer, midi.* from "peer_score-partwise_part-list_score-part_midi-instrument" sm
      join "midi-instrument" midi on midi."pk_midi-instrument" = sm."fk_midi-instrument"
  ) midi on midi.fk_peer = s.pk_peer and midi.id = i.id;

select s."score-partwise_work_work-title", s."score-partwise_part-list_score-part_part-name_value" as part_name, m.number,
       count(n.pk_note) filter (where n.pitch_step is not null) as notes,
       count(n.pk_note) filter (where n.pitch_step is null) as rests,
       (select count(*) from measure_harmony h where h.fk_measure = m.pk_measure) as harmonies,
       coalesce(sum(n.duration), 0) as duration
  from "peer_score-partwise_part" sp
  join peer s on s.pk_peer = sp.fk_peer
  join part_measure pm on pm.fk_part = sp.fk_part
  join measure m on m.pk_measure = pm.fk_measure
  left join measure_note mn on mn.fk_measure = m.pk_measure
  left join note n on n.pk_note = mn.fk_note
 group by s.pk_peer, sp.fk_part, m.pk_measure, m.number, 1, 2;
