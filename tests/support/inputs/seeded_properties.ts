import { configureGlobal } from "fast-check";

// Before all tests: the seed of a run counts for properties too. Without one each takes its own, and says which when it
// fails.
const seed = process.env["SLIPWAY_TEST_SEED"];
if (seed !== undefined) configureGlobal({ seed: Number(seed) });
