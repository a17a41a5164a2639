-- Foreign exchange in the tables of GMLAS.

select m.header_messageid, h.tradedate, i.www_fpml_org_fpml_5_confirmation_tradeid2 as trade, id.value as party
  from tradeheader_partytradeidentifier i
  join tradeheader h on h.ogr_pkid = i.parent_ogr_pkid
  join trade t on t.tradeheader_pkid = h.ogr_pkid
  join requestconfirmation m on m.trade_pkid = t.ogr_pkid
  left join requestconfirmation_party_party mp on mp.parent_pkid = m.ogr_pkid
  left join party p on p.id = mp.child_pkid
  left join party_partyid id on id.parent_id = p.id
 where p.id = i.partyreference_href;

-- products are in none of its tables
select null where false;

select null where false;
