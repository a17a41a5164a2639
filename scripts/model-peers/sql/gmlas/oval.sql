-- Checks of machines in the tables of GMLAS.

select d.id, d.class, d.metadata_title, a.family, t.name as platform,
       (select count(*) from definition_metadata_reference r where r.parent_ogr_pkid = d.ogr_pkid) as reference_count
  from definition_metadata_affected a
  join definition d on d.ogr_pkid = a.parent_ogr_pkid
 cross join unnest(a.platform) as t(name);

-- one criterion of each criteria is in its tables, and of the top ones none
with recursive decides as (
  select d.id as definition, s.criteria_pkid
    from definition d
    join definition_criteria dc on dc.parent_ogr_pkid = d.ogr_pkid
    join definition_criteria_sequence s on s.parent_ogr_pkid = dc.ogr_pkid
  union all
  select decides.definition, c.criteria_pkid
    from criteria c join decides on decides.criteria_pkid = c.ogr_pkid
)
select definition, coalesce(c.operator, 'AND') as operator, c.criterion_comment, t.comment
  from decides
  join criteria c on c.ogr_pkid = decides.criteria_pkid
  left join rpminfo_test t on t.id = c.criterion_test_ref;

select t.id, t.comment, o.name, case when s.version is not null then s.version_operation end as operation, s.version
  from rpminfo_test t
  left join rpminfo_object o on o.id = t.object_object_ref
  left join rpminfo_test_state r on r.parent_ogr_pkid = t.ogr_pkid
  left join rpminfo_state s on s.id = r.state_ref;
