import { configureGlobal } from "fast-check";

// Preloaded before all tests: applies the seed of the run to property tests. Without one, each property picks its own
// seed and prints it on failure.
const seed = process.env["SLIPWAY_TEST_SEED"];
if (seed !== undefined) configureGlobal({ seed: Number(seed) });
