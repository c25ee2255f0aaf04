export { ContractFields } from "./ContractFields";
export { FailureFields } from "./FailureFields";
export { FlowFailureFields } from "./FlowFailureFields";
export { FlowLimitFields } from "./FlowLimitFields";
export { InputFields } from "./InputFields";
export { OutputFields } from "./OutputFields";
export { PolicyFields } from "./PolicyFields";
export { policyOf } from "./usePolicy";
