export { type InputPort, type OutputPort, placeholderFields, portsOf, portsOfType } from "./ports";
export { type EdgeKind, edgeKind, type Fit, fit } from "./rules";
