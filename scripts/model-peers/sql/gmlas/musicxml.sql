-- Scores in the tables of GMLAS.

-- a measure knows one of its notes, a score one of its parts
select s.work_work_title, sp.part_name, m.number, n._pitch_step4, n._pitch_octave4, n.type, l.number as verse, l._text
  from note_lyric l
  join note n on n.ogr_pkid = l.parent_ogr_pkid
  join score_partwise_part_measure m on m.note_pkid = n.ogr_pkid
  join score_partwise_part p on p.ogr_pkid = m.parent_ogr_pkid
  join score_partwise s on s.ogr_pkid = p.parent_ogr_pkid
  join part_list pl on pl.ogr_pkid = s.part_list_pkid
  join score_part sp on sp.id = p.id and sp.id in (pl.score_part_pkid, pl.score_part_pkid2);

select s.work_work_title, sp.part_name, i.instrument_name, g.midi_instrument_midi_channel, g.midi_instrument_midi_program
  from score_part_score_instrument i
  join score_part sp on sp.id = i.parent_id
  join part_list pl on sp.id in (pl.score_part_pkid, pl.score_part_pkid2)
  join score_partwise s on s.part_list_pkid = pl.ogr_pkid
  left join score_part__group1 g on g.parent_id = sp.id and g.midi_instrument_id = i.id;

select s.work_work_title, sp.part_name, m.number, count(n._pitch_step4) as notes,
       count(*) filter (where n._pitch_step4 is null) as rests, count(m.harmony_pkid) as harmonies,
       coalesce(sum(n._duration2), 0) as duration
  from score_partwise_part_measure m
  join score_partwise_part p on p.ogr_pkid = m.parent_ogr_pkid
  join score_partwise s on s.ogr_pkid = p.parent_ogr_pkid
  join part_list pl on pl.ogr_pkid = s.part_list_pkid
  join score_part sp on sp.id = p.id and sp.id in (pl.score_part_pkid, pl.score_part_pkid2)
  left join note n on n.ogr_pkid = m.note_pkid
 group by s.ogr_pkid, m.ogr_pkid, s.work_work_title, sp.part_name, m.number;
