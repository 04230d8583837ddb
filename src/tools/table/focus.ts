/** How to write costs in the FOCUS 1.3 format (FinOps Open Cost and Usage Specification) from the billing tools. */
export const focus = `# FOCUS 1.3 from the billing tools

FOCUS is the FinOps community's common format for cloud costs: one row per charge, with the same columns for every provider.
The platform has no FOCUS export; these columns follow from what the tools return.

| Column | Where it comes from |
|---|---|
| BillingAccountId | contractId in get_billing_profile |
| BillingAccountName | reference in get_billing_profile, else the contract number |
| BillingPeriodStart, BillingPeriodEnd | startDate and endDate in metadata of get_billing_invoice; the end is exclusive |
| InvoiceId | id in list_billing_invoices |
| ChargePeriodStart, ChargePeriodEnd | from and to of a meter in list_billing_utilization; one day with get_billing_utilization_daily |
| ChargeCategory | Usage; Credit for a rebate of an invoice |
| ChargeDescription | meter_definitions of the meter |
| ChargeFrequency | Usage-Based |
| BilledCost, EffectiveCost | amount of a meter in get_billing_invoice; before the invoice exists: ConsumedQuantity × ListUnitPrice |
| ContractedCost, ListCost | PricingQuantity × ListUnitPrice |
| BillingCurrency, PricingCurrency | unit of the amount |
| ConsumedQuantity, ConsumedUnit | quantity and unit in list_billing_utilization |
| PricingQuantity, PricingUnit | quantity of the meter in get_billing_invoice, and unit in list_billing_products |
| ListUnitPrice, ContractedUnitPrice | unitCost in list_billing_products, or rate in get_billing_invoice |
| SkuId, SkuMeter | meter_id and its description |
| ServiceName | type of the meter, for example SERVER or STORAGE |
| ServiceCategory | Compute for SERVER and CUBETEMPLATE; Storage for STORAGE, SNAPSHOT and S3; Networking for IP, NIC, NATGATEWAY, TRAFFIC and DNS; Databases for DBAAS; Analytics for KAFKA; Management and Governance for MONITORING and LAAS |
| ResourceId, ResourceName, ResourceType | resource_id, name and type in list_billing_utilization |
| RegionId | region in list_billing_utilization, or location of the datacenter |
| SubAccountId, SubAccountName, SubAccountType | id and name of the datacenter; Datacenter |
| ProviderName, PublisherName, InvoiceIssuerName | the platform |

How to: get_billing_profile, then list_billing_invoices, then get_billing_invoice of the month for costs and
list_billing_utilization_by_period of the same month for the resources behind each meter. Join them by datacenter and meter id,
and share the cost of a meter among its resources by their quantities. The sum of BilledCost has to equal the invoice's total.
`;
