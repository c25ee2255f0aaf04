export { FlowPicker } from "./FlowPicker";
