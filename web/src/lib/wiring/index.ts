export { configures, mainField, mainOutput, nodeTemplate, outputType } from "./nodeTemplate";
export { insertReference, type Reference, references } from "./references";
export { contractSchema, isSchema, promised, type Schema } from "./schemaPaths";
export { type ReferenceFault, referenceFault, type Variable, type VariableGroup, variablesAt } from "./variables";
export { before, orphans, type Wiring, wire, wiringOf } from "./wiring";
