export { ChatFlowsPage } from "./ChatFlowsPage";
export { ChatPage } from "./ChatPage";
