export { FlowTriggersPage } from "./FlowTriggersPage";
export { TriggersPage } from "./TriggersPage";
