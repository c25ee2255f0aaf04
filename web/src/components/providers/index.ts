export { ProviderDialog } from "./ProviderDialog";
