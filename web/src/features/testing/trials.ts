/** How often each test may be run. */
export const TRIALS = [1, 2, 3, 5, 10] as const;
