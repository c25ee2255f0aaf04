export { ObservePage } from "./ObservePage";
export { SlosPage } from "./slos/SlosPage";
