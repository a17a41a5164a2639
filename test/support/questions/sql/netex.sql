-- Timetables: the three questions of standards/netex.ts.

select j.id, c."order", stop.name, c.arrival_time, c.departure_time
  from call c
  join service_journey j using (service_journey_key)
  left join scheduled_stop_point stop
    on stop.document_key = c.document_key and stop.id = c.scheduled_stop_point_ref;

select j.id, j.departure_time, d.name, array_to_string(p.days_of_week, ' ') as week
  from day_type_ref r
  join service_journey j using (service_journey_key)
  left join day_type d on d.document_key = r.document_key and d.id = r.ref
  left join property_of_day p using (day_type_key);

select l.id, l.name, l.public_code, l.transport_mode, o.name as operator
  from line l
  left join organisation o on o.document_key = l.document_key and o.id = l.operator_ref;
