export { ConnectionDialog } from "./ConnectionDialog";
export { KindIcon } from "./kindIcons";
export { useConnectionTexts } from "./texts";
export { useAuthorize } from "./useAuthorize";
