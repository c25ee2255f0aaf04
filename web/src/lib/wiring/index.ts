export { configures, ERROR, mainField, mainOutput, nodeTemplate, outputType, takesErrorEdge } from "./nodeTemplate";
export { insertReference, type Reference, references } from "./references";
export { contractSchema, isSchema, membersOf, promised, type Schema, schemaAt, typeName } from "./schemaPaths";
export { type ReferenceFault, referenceFault, type VariableGroup, variablesAt } from "./variables";
export { before, orphans, type Wiring, wire, wiringOf } from "./wiring";
