export { CaseDialog } from "./CaseDialog";
export { CaseList, useExpectedWords } from "./CaseList";
export { freeName, TEXT_KINDS } from "./expectations";
