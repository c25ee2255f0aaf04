export { CaseDialog } from "./CaseDialog";
export { CaseList, useExpectedWords } from "./CaseList";
export { freeName } from "./expectations";
