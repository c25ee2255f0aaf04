export { configures, ERROR, mainField, mainOutput, nodeTemplate, outputType, takesErrorEdge } from "./nodeTemplate";
export { insertReference, type Reference, references } from "./references";
export { contractSchema, isSchema, type Schema } from "./schemaPaths";
export { type ReferenceFault, referenceFault, type VariableGroup, variablesAt } from "./variables";
export { before, orphans, type Wiring, wire, wiringOf } from "./wiring";
