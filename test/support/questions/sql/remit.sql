-- Orders and trades of energy: the three questions of standards/remit.ts.

select o.order_id_unique_order_identifier, o.trader_id_for_organised_market, o.buy_sell_indicator,
       c.contract_name, zone.value as zone, o.price_details_price, o.price_details_price_currency, o.quantity_value, o.quantity_unit
  from order_report o
  left join contract c on c.document_key = o.document_key and c.contract_id = o.contract_info_contract_id
  left join delivery_point_or_zone zone using (contract_key);

select t.unique_transaction_identifier, t.transaction_time,
       coalesce(t.id_of_market_participant_ace, t.id_of_market_participant_lei) as participant,
       coalesce(t.other_market_participant_ace, t.other_market_participant_lei) as other,
       t.notional_amount_details_notional_amount, t.notional_amount_details_notional_currency, linked.value as linked_order
  from trade_report t
  left join linked_order_id linked using (trade_report_key);

select c.contract_id, c.contract_name, c.load_type, zone.value as zone, c.delivery_start_date, c.delivery_end_date,
       begins.value as begins, ends.value as ends
  from load_delivery_start_time begins
  join delivery_profile p using (delivery_profile_key)
  join contract c using (contract_key)
  left join delivery_point_or_zone zone using (contract_key)
  left join load_delivery_end_time ends
    on ends.delivery_profile_key = p.delivery_profile_key and ends.position = begins.position + 1;
