import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { componentsQuery } from "@/api/queries/components";
import { flowQuery } from "@/api/queries/flows";
import { flowList, words } from "./address";
import { FlowSkeleton } from "./flow/FlowSkeleton";
import { inside, root } from "./rootRoutes";

const home = createRoute({
  getParentRoute: () => inside,
  path: "/",
  validateSearch: flowList,
  component: lazyRouteComponent(() => import("@/features/home"), "HomePage"),
});
const templates = createRoute({
  getParentRoute: () => inside,
  path: "/templates",
  validateSearch: words("template", "category"),
  component: lazyRouteComponent(() => import("@/features/home"), "TemplatesPage"),
});
const runs = createRoute({
  getParentRoute: () => inside,
  path: "/runs",
  validateSearch: words("status", "flow", "trigger"),
  component: lazyRouteComponent(() => import("@/features/runs"), "RunsPage"),
});
const chat = createRoute({
  getParentRoute: () => inside,
  path: "/chat",
  component: lazyRouteComponent(() => import("@/features/runs/chat"), "ChatFlowsPage"),
});
const chatFlow = createRoute({
  getParentRoute: () => inside,
  path: "/chat/$flowId/{-$conversationId}",
  component: lazyRouteComponent(() => import("@/features/runs/chat"), "ChatPage"),
});
const triggers = createRoute({
  getParentRoute: () => inside,
  path: "/triggers",
  validateSearch: words("flow", "kind", "state", "search"),
  component: lazyRouteComponent(() => import("@/features/triggers"), "TriggersPage"),
});
const inbox = createRoute({
  getParentRoute: () => inside,
  path: "/inbox/{-$approvalId}",
  validateSearch: words("show"),
  component: lazyRouteComponent(() => import("@/features/inbox"), "InboxPage"),
});
const knowledge = createRoute({
  getParentRoute: () => inside,
  path: "/knowledge/{-$baseId}",
  validateSearch: words("view", "document", "passage", "cited"),
  component: lazyRouteComponent(() => import("@/features/knowledge"), "KnowledgePage"),
});
const develop = createRoute({
  getParentRoute: () => inside,
  path: "/develop",
  component: lazyRouteComponent(() => import("@/features/codev"), "SessionsPage"),
});
const developNew = createRoute({
  getParentRoute: () => inside,
  path: "/develop/new",
  validateSearch: words("flow", "domain"),
  component: lazyRouteComponent(() => import("@/features/codev"), "StartPage"),
});
const developOne = createRoute({
  getParentRoute: () => inside,
  path: "/develop/$sessionId",
  component: lazyRouteComponent(() => import("@/features/codev"), "SessionPage"),
});
const observe = createRoute({
  getParentRoute: () => inside,
  path: "/observe",
  validateSearch: words("days"),
  component: lazyRouteComponent(() => import("@/features/observe"), "ObservePage"),
});
const alerts = createRoute({
  getParentRoute: () => inside,
  path: "/alerts",
  validateSearch: words("flow"),
  component: lazyRouteComponent(() => import("@/features/alerts"), "AlertsPage"),
});
const queue = createRoute({
  getParentRoute: () => inside,
  path: "/queue",
  component: lazyRouteComponent(() => import("@/features/observe"), "QueuePage"),
});
const serviceLevels = createRoute({
  getParentRoute: () => inside,
  path: "/service-levels",
  validateSearch: words("flow"),
  component: lazyRouteComponent(() => import("@/features/observe"), "SlosPage"),
});
const settings = createRoute({
  getParentRoute: () => inside,
  path: "/settings/{-$section}",
  component: lazyRouteComponent(() => import("@/features/settings"), "SettingsPage"),
});
const design = createRoute({
  getParentRoute: () => inside,
  path: "/design",
  component: lazyRouteComponent(() => import("./design"), "DesignPage"),
});

/** One open flow; its views share one draft. */
const flow = createRoute({
  getParentRoute: () => inside,
  path: "/flows/$flowId",
  // Asked for while the script is on its way; the page waits for the answers itself.
  loader: ({ context: { queryClient }, params }) => {
    void queryClient.prefetchQuery(flowQuery(params.flowId));
    void queryClient.prefetchQuery(componentsQuery);
  },
  pendingComponent: FlowSkeleton,
  pendingMs: 0,
  pendingMinMs: 0,
  component: lazyRouteComponent(() => import("./flow/FlowPage"), "FlowPage"),
});
const canvas = createRoute({
  getParentRoute: () => flow,
  path: "/",
  validateSearch: words("ask", "caller"),
  component: lazyRouteComponent(() => import("./flow/views"), "CanvasView"),
});
const steps = createRoute({
  getParentRoute: () => flow,
  path: "/steps",
  component: lazyRouteComponent(() => import("./flow/views"), "StepsView"),
});
const overview = createRoute({
  getParentRoute: () => flow,
  path: "/overview",
  validateSearch: words("run"),
  component: lazyRouteComponent(() => import("@/features/overview"), "OverviewPage"),
});
const flowRuns = createRoute({
  getParentRoute: () => flow,
  path: "/runs",
  validateSearch: words("status"),
  component: lazyRouteComponent(() => import("@/features/runs"), "FlowRunsPage"),
});
const flowRun = createRoute({
  getParentRoute: () => flow,
  path: "/runs/$runId",
  validateSearch: words("step", "compare"),
  component: lazyRouteComponent(() => import("@/features/runs"), "RunPage"),
});
const flowTests = createRoute({
  getParentRoute: () => flow,
  path: "/tests",
  validateSearch: words("from"),
  component: lazyRouteComponent(() => import("@/features/testing"), "TestsPage"),
});
const flowTriggers = createRoute({
  getParentRoute: () => flow,
  path: "/triggers",
  component: lazyRouteComponent(() => import("@/features/triggers"), "FlowTriggersPage"),
});
const publish = createRoute({
  getParentRoute: () => flow,
  path: "/publish",
  validateSearch: words("before", "after"),
  component: lazyRouteComponent(() => import("@/features/publish"), "PublishPage"),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: words("next", "error", "step"),
  component: lazyRouteComponent(() => import("@/features/account"), "SignInPage"),
});
const setPassword = createRoute({
  getParentRoute: () => root,
  path: "/set-password",
  component: lazyRouteComponent(() => import("@/features/account"), "SetPasswordPage"),
});
const review = createRoute({
  getParentRoute: () => root,
  path: "/review",
  component: lazyRouteComponent(() => import("@/features/inbox"), "ReviewPage"),
});

const tree = root.addChildren([
  inside.addChildren([
    home,
    templates,
    runs,
    chat,
    chatFlow,
    triggers,
    inbox,
    knowledge,
    develop,
    developNew,
    developOne,
    observe,
    alerts,
    queue,
    serviceLevels,
    settings,
    design,
    flow.addChildren([canvas, steps, overview, flowRuns, flowRun, flowTests, flowTriggers, publish]),
  ]),
  signIn,
  setPassword,
  review,
]);

export function createStudioRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queryClient },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createStudioRouter>;
  }
}
