export { type InputPort, type OutputPort, type Ports, placeholderFields, portsOf, portsOfType } from "./ports";
export { converter, type EdgeKind, edgeKind, type Fit, fit } from "./rules";
