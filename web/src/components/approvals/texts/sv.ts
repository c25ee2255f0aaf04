import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  waiting: "Väntar på godkännande",
  review: "Granska",
  view: "Visa",
  who: "Kan besluta: {{who}}",
  anyone: "alla användare som får starta flödet",
  role_owner: "utrymmets ägare",
  role_publisher: "utrymmets utgivare",
  role_editor: "utrymmets redaktörer",
  role_runner: "utrymmets körare",
  role_viewer: "utrymmets läsare",
  not_starter: "utom användaren som startade körningen",
  needed: "{{count}} godkännanden krävs",
};
export default sv;
