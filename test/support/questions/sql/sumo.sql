-- Road networks: the three questions of standards/sumo.ts.

select e.id, e."from", e."to", count(*) as lanes, sum(l.length) as length
  from edge e
  join lane l using (edge_key)
 where e."from" is not null
 group by e.edge_key;

select t.id, j.type, j.x, j.y, count(*) as phases, sum(p.duration) as seconds
  from tl_logic t
  join phase p using (tl_logic_key)
  left join junction j on j.document_key = t.document_key and j.id = t.id
 group by t.tl_logic_key, j.junction_key;

select c."from", c."to", c.dir, c.state, l.length
  from connection c
  left join lane l on l.document_key = c.document_key and l.id = c.via
 where c.via is not null;
