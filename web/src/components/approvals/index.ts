export { useDeciders } from "./useDeciders";
export { WaitingForApproval } from "./WaitingForApproval";
