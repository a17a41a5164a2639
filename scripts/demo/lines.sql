select o.number as "order", o.buyer_name as buyer, l.description, l.quantity, l.unit_price as price, s.carrier
from "order" o join line l using (order_key) left join shipment s using (order_key)
where l.unit_price_currency = 'EUR'
order by l.quantity * l.unit_price desc, o.number limit 6
