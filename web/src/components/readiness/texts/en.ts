export default {
  show_node: "Show “{{name}}”",
  set_variable: "Set the variable {{name}}",
  set_up_model: "Set up models",
  add_connection: "Add the connection {{name}}",
  connection_missing: "The connection {{name}} is not available.",
  add_server: "Add the MCP server {{name}}",
  variable_kept: "The variable {{name}} was not stored for that server.",
  variable_missing: "The variable {{name}} is not set.",
  model_missing: "The model {{name}} is not available.",
  server_missing: "The MCP server {{name}} is not available.",
};
