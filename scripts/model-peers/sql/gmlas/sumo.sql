-- Road networks in the tables of GMLAS.

select e.id, e."from", e."to", count(*) as lanes, sum(l.length) as length
  from net_edge e
  join net_edge_sequence s on s.parent_ogr_pkid = e.ogr_pkid
  join net_edge_lane l on l.parent_ogr_pkid = s.ogr_pkid
 where e."from" is not null
 group by e.ogr_pkid, e.id, e."from", e."to";

-- phases are in none of its tables
select t.id, j.type, j.x, j.y, null as phases, null as seconds
  from net_tllogic t
  left join net_junction j on j.parent_ogr_pkid = t.parent_ogr_pkid and j.id = t.id;

select c."from", c."to", c.dir, c.state, l.length
  from net_connection c
  join net_edge e on e.parent_ogr_pkid = c.parent_ogr_pkid
  join net_edge_sequence s on s.parent_ogr_pkid = e.ogr_pkid
  join net_edge_lane l on l.parent_ogr_pkid = s.ogr_pkid and l.id = c.via;
