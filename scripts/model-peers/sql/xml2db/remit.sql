-- Orders and trades of energy in the tables of xml2db.

select o."orderId_uniqueOrderIdentifier", o."traderID_traderIdForOrganisedMarket", o."buySellIndicator", c."contractName",
       c."deliveryPointOrZone", o."priceDetails_price", o."priceDetails_priceCurrency", o.quantity_value, o.quantity_unit
  from "REMITTable1_OrderList_OrderReport" ro
  join "OrderReport" o on o."pk_OrderReport" = ro."fk_OrderReport"
  left join (
    select rc."fk_REMITTable1", c.* from "REMITTable1_contractList_contract" rc
      join contract c on c.pk_contract = rc.fk_contract
  ) c on c."fk_REMITTable1" = ro."fk_REMITTable1" and c."contractId" = o."contractInfo_contractId";

select t."uniqueTransactionIdentifier_uniqueTransactionIdentifier", t."transactionTime", t."idOfMarketParticipant_value",
       t."otherMarketParticipant_value", t."notionalAmountDetails_notionalAmount",
       t."notionalAmountDetails_notionalCurrency", t."linkedOrderId"
  from "REMITTable1_TradeList_TradeReport" rt
  join "TradeReport" t on t."pk_TradeReport" = rt."fk_TradeReport";

select c."contractId", c."contractName", c."loadType", c."deliveryPointOrZone", c."deliveryStartDate", c."deliveryEndDate",
       begins, ends
  from "REMITTable1_contractList_contract" rc
  join contract c on c.pk_contract = rc.fk_contract
  join "contract_deliveryProfile" cp on cp.fk_contract = c.pk_contract
  join "deliveryProfile" p on p."pk_deliveryProfile" = cp."fk_deliveryProfile"
 cross join unnest(string_to_array(p."loadDeliveryStartTime", ','), string_to_array(p."loadDeliveryEndTime", ',')) as t(begins, ends);
