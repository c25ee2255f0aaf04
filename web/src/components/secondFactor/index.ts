export * from "./ConfirmForm";
export * from "./EnrolTotp";
export * from "./RecoveryCodes";
export * from "./useConfirmed";
