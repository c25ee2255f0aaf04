export default {
  choose_flow: "Choose a flow",
  find_flow: "Search flows",
  no_such_flow: "No flow matches.",
  flow_gone: "This flow no longer exists",
};
