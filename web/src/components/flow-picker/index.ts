export { FlowPicker } from "./FlowPicker";
export { PublishedFlowPicker } from "./PublishedFlowPicker";
