-- Arrivals at stops: the three questions of standards/siri.ts.

select v.item_identifier, v.monitored_vehicle_journey_line_ref,
       (select value from natural_language_string name
         where name.monitored_stop_visit_key = v.monitored_stop_visit_key
           and name.role = 'MonitoredVehicleJourney/DestinationName' order by position limit 1) as destination,
       v.monitored_vehicle_journey_vehicle_ref, v.monitored_call_aimed_arrival_time,
       v.monitored_call_expected_arrival_time
  from monitored_stop_visit v;

select v.item_identifier, v.monitored_vehicle_journey_line_ref, c.stop_point_ref,
       (select value from natural_language_string name
         where name.onward_call_key = c.onward_call_key and name.role = 'StopPointName' order by position limit 1) as name,
       c.expected_arrival_time
  from onward_call c
  join monitored_stop_visit v using (monitored_stop_visit_key);

select a.item_identifier, a.monitored_vehicle_journey_line_ref, a.monitored_vehicle_journey_delay, place.value
  from via
  join vehicle_activity a using (vehicle_activity_key)
  left join natural_language_place_name place using (via_key);
