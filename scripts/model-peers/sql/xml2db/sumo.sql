-- Road networks in the tables of xml2db.

select e.id, e."from", e."to", count(*) as lanes, sum(l.length) as length
  from net_edge ne
  join edge e on e.pk_edge = ne.fk_edge
  join edge_lane el on el.fk_edge = e.pk_edge
  join lane l on l.pk_lane = el.fk_lane
 where e."from" is not null
 group by e.pk_edge, e.id, e."from", e."to";

select t.id, j.type, j.x, j.y, count(*) as phases, sum(p.duration) as seconds
  from "net_tlLogic" nt
  join "tlLogic" t on t."pk_tlLogic" = nt."fk_tlLogic"
  join "tlLogic_phase" tp on tp."fk_tlLogic" = t."pk_tlLogic"
  join phase p on p.pk_phase = tp.fk_phase
  left join (select nj.fk_net, j.* from net_junction nj join junction j on j.pk_junction = nj.fk_junction) j
    on j.fk_net = nt.fk_net and j.id = t.id
 group by t."pk_tlLogic", t.id, j.type, j.x, j.y;

select c."from", c."to", c.dir, c.state, l.length
  from net_connection nc
  join connection c on c.pk_connection = nc.fk_connection
  left join (
    select ne.fk_net, l.* from net_edge ne
      join edge_lane el on el.fk_edge = ne.fk_edge
      join lane l on l.pk_lane = el.fk_lane
  ) l on l.fk_net = nc.fk_net and l.id = c.via
 where c.via is not null;
