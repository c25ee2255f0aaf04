export { ApprovalFormControl } from "./ApprovalFormControl";
export { FlowFields } from "./FlowFields";
export { FormBuilder } from "./FormBuilder";
