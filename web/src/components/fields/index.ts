export { FieldControl } from "./FieldControl";
export { issueNode, issueOf, issuesElsewhere } from "./issues";
export { ListEditor } from "./ListEditor";
export { NodeField } from "./NodeField";
export { type Pairs, PairsEditor } from "./PairsEditor";
export { inWords } from "./simpleControls";
export { PlainTextBox, VariableTextBox } from "./TextBox";
export type { FieldControlProps } from "./types";
export { VariableSpace } from "./variableSpace";
