-- Foreign exchange: the three questions of standards/fpml.ts.

select m.header_message_id, m.trade_header_trade_date, trade.value as trade, id.value as party
  from party_trade_identifier i
  join request_confirmation m using (request_confirmation_key)
  left join trade_id trade using (party_trade_identifier_key)
  left join party on party.document_key = i.document_key and party.id = i.party_reference_href
  left join party_id id using (party_key);

with leg as (
  select request_confirmation_key, document_key, value_date,
         exchanged_currency1_payment_amount_currency as currency_1, exchanged_currency1_payment_amount as amount_1,
         exchanged_currency2_payment_amount_currency as currency_2, exchanged_currency2_payment_amount as amount_2,
         exchange_rate as rate, exchanged_currency1_payer_party_reference_href as payer
    from product where element = 'fxSingleLeg'
  union all
  select request_confirmation_key, document_key, near_leg_value_date,
         near_leg_exchanged_currency1_payment_amount_currency, near_leg_exchanged_currency1_payment_amount,
         near_leg_exchanged_currency2_payment_amount_currency, near_leg_exchanged_currency2_payment_amount,
         near_leg_exchange_rate, near_leg_exchanged_currency1_payer_party_reference_href
    from product where element = 'fxSwap'
  union all
  select request_confirmation_key, document_key, far_leg_value_date,
         far_leg_exchanged_currency1_payment_amount_currency, far_leg_exchanged_currency1_payment_amount,
         far_leg_exchanged_currency2_payment_amount_currency, far_leg_exchanged_currency2_payment_amount,
         far_leg_exchange_rate, far_leg_exchanged_currency1_payer_party_reference_href
    from product where element = 'fxSwap'
)
select m.header_message_id, leg.value_date, currency_1, amount_1, currency_2, amount_2, rate, id.value as payer
  from leg
  join request_confirmation m using (request_confirmation_key)
  left join party on party.document_key = leg.document_key and party.id = leg.payer
  left join party_id id using (party_key);

select m.header_message_id, put_currency_amount_currency, put_currency_amount, call_currency_amount_currency,
       call_currency_amount, strike_rate, premium_payment_amount, premium_payment_amount_currency
  from product
  join request_confirmation m using (request_confirmation_key)
 where element = 'fxOption';
