export { ROLE_WORDS } from "./roles";
export { ServerForm, useServerForm } from "./ServerForm";
export { SetupGuide } from "./SetupGuide";
export { Tested } from "./Tested";
export { useModelSetupTexts } from "./texts";
