export { ObservePage } from "./ObservePage";
