export { FieldControl } from "./FieldControl";
export { insertInto } from "./insertion";
export { issueNode, issueOf, issuesElsewhere } from "./issues";
export { ListEditor } from "./ListEditor";
export { NodeField } from "./NodeField";
export { type Pairs, PairsEditor } from "./PairsEditor";

export { VariableTextBox } from "./TextBox";
export { useExpected } from "./useExpected";

export { VariableSpace } from "./variableSpace";
