-- Orders and trades of energy in the tables of GMLAS.

select o.orderid_uniqueorderidentifier, o.traderid_traderidfororganisedmarket, o.buysellindicator, c.contractname,
       c.deliverypointorzone[1] as zone, o.pricedetails_price, o.pricedetails_pricecurrency, o.quantity_value, o.quantity_unit
  from remittable1_orderlist_orderreport o
  left join remittable1_contractlist_contract c
    on c.parent_ogr_pkid = o.parent_ogr_pkid and c.contractid = o.contractinfo_contractid;

select t.uniquetransactionidentifier_uniquetransactionidentifier, t.transactiontime,
       coalesce(t.idofmarketparticipant_ace, t.idofmarketparticipant_lei) as participant,
       coalesce(t.othermarketparticipant_ace, t.othermarketparticipant_lei) as other,
       t.notionalamountdetails_notionalamount, t.notionalamountdetails_notionalcurrency, t.linkedorderid[1] as linked_order
  from remittable1_tradelist_tradereport t;

-- times of the day are in none of its tables
select c.contractid, c.contractname, c.loadtype, c.deliverypointorzone[1] as zone, c.deliverystartdate, c.deliveryenddate,
       null as begins, null as ends
  from deliveryprofile p
  join remitta_contraclist_contract_deliveryprofile_deliveryprofile cp on cp.child_pkid = p.ogr_pkid
  join remittable1_contractlist_contract c on c.ogr_pkid = cp.parent_pkid;
