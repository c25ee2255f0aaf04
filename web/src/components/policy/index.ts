export { ContractFields } from "./ContractFields";
export { InputFields } from "./InputFields";
export { OutputFields } from "./OutputFields";
export { PolicyFields } from "./PolicyFields";
export { policyOf, usePolicy } from "./usePolicy";
