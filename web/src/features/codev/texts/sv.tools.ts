import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.tools";

const sv: Translation<typeof en> = {
  tool_search_patterns: "söker tidigare lösningar",
  tool_use_pattern: "tar upp en tidigare lösning",
  tool_search_components: "söker komponenter",
  tool_describe_component: "läser en komponent",
  tool_list_component_types: "listar komponenter",
  tool_list_flows: "listar flöden",
  tool_describe_flow: "läser flödet",
  tool_describe_node: "läser ett steg i flödet",
  tool_check_flow: "kontrollerar flödet",
  tool_list_templates: "söker mallar",
  tool_describe_template: "läser en mall",
  tool_list_variables: "ser efter vilka variabler som finns",
  tool_list_models: "ser efter vilka modeller som är redo",
  tool_list_mcp_tools: "ser efter verktyg hos MCP-servrar",
  tool_build_flow: "skriver flödet",
  tool_add_component: "lägger till ett steg",
  tool_remove_component: "tar bort ett steg",
  tool_connect_components: "kopplar ihop steg",
  tool_disconnect_components: "tar bort en koppling",
  tool_configure_component: "ställer in ett steg",
  tool_rename_component: "byter namn på ett steg",
  tool_set_flow_details: "ändrar namn eller beskrivning",
};
export default sv;
