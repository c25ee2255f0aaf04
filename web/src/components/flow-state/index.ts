export { FlowStateDialog } from "./FlowStateDialog";
