export { ObservePage } from "./ObservePage";
export { QueuePage } from "./queue/QueuePage";
export { SlosPage } from "./slos/SlosPage";
