-- Checks of machines: the three questions of standards/oval.ts.

select d.id, d.class, d.metadata_title, a.family, p.value,
       (select count(*) from reference r where r.definition_key = d.definition_key) as reference_count
  from platform p
  join affected a using (affected_key)
  join definition d using (definition_key);

with recursive decides as (
  select definition.id as definition, criteria_key, operator
    from definition join criteria using (criteria_key)
  union all
  select decides.definition, inner_criteria.criteria_key, inner_criteria.operator
    from criteria inner_criteria join decides on decides.criteria_key = inner_criteria.parent_criteria_key
)
select definition, coalesce(operator, 'AND') as operator, c.comment, test.comment as test
  from criterion c
  join decides using (criteria_key)
  left join test on test.document_key = c.document_key and test.id = c.test_ref;

select t.id, t.comment, o.name, s.version_operation, s.version
  from test t
  left join object o on o.document_key = t.document_key and o.id = t.linux_def_object_ref
  left join state_ref r using (test_key)
  left join state s on s.document_key = t.document_key and s.id = r.state_ref
 where t.element = 'linux-def:rpminfo_test';
