export default {
  waiting: "Waiting for approval",
  review: "Review",
  view: "View",
  who: "Can decide: {{who}}",
  anyone: "every user who may start the flow",
  role_owner: "owners of the space",
  role_publisher: "publishers of the space",
  role_editor: "editors of the space",
  role_runner: "runners of the space",
  role_viewer: "viewers of the space",
  not_starter: "except the user who started the run",
  needed: "{{count}} approvals needed",
};
