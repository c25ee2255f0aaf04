export { LocalModels } from "./LocalModels";
export { ProviderDialog } from "./ProviderDialog";
export { ProviderForm, useProviderForm } from "./ProviderForm";
export { NotInstalled } from "./ProviderSetup";
export { useProviderTexts } from "./texts";
export { MODELS_TOUCHED } from "./touched";
export { providerName, takesKey } from "./values";
