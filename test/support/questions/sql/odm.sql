-- Clinical studies: the three questions of standards/odm.ts.

with recursive item_group as (
  select item_group_data_key, study_event_data_key, item_group_oid, item_group_repeat_key
    from item_group_data where study_event_data_key is not null
  union all
  select inner_group.item_group_data_key, outer_group.study_event_data_key, inner_group.item_group_oid,
         inner_group.item_group_repeat_key
    from item_group_data inner_group
    join item_group outer_group on outer_group.item_group_data_key = inner_group.parent_item_group_data_key
)
select study.study_oid, subject.subject_key, event.study_event_oid, g.item_group_oid, g.item_group_repeat_key, item.name, v.value
  from item_data d
  join item_group g using (item_group_data_key)
  join study_event_data event using (study_event_data_key)
  join subject_data subject using (subject_data_key)
  join clinical_data study using (clinical_data_key)
  left join item_def item on item.document_key = d.document_key and item.oid = d.item_oid
  left join value v using (item_data_key);

select list.oid, list.name, i.coded_value, meaning.value
  from code_list_item i
  join code_list list using (code_list_key)
  left join translated_text meaning
    on meaning.code_list_item_key = i.code_list_item_key and meaning.lang = 'en';

select i.oid, i.name, i.data_type, question.value, list.name as list
  from item_def i
  left join translated_text question
    on question.item_def_key = i.item_def_key and question.role = 'Question/TranslatedText' and question.lang = 'en'
  left join code_list list on list.document_key = i.document_key and list.oid = i.code_list_ref_code_list_oid;
