export { ApiDialog } from "./ApiDialog";
export { ConnectionDialog } from "./ConnectionDialog";
export { Difference } from "./Difference";
export { KindIcon } from "./kindIcons";
export { OperationList } from "./OperationList";
export { TablesDialog } from "./TablesDialog";
export { useConnectionTexts } from "./texts";
export { useAuthorize } from "./useAuthorize";
