import { setupServer } from "msw/node";

/** Answers instead of the network in component tests; a request that no handler knows fails the test. */
export const server = setupServer();
