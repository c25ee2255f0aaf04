export { FlowFields } from "./FlowFields";
export { FormBuilder } from "./FormBuilder";
