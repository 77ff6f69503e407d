import type { StepName } from "./deployment.ts";

/** The progress of a deployment, in percent, when a step begins. */
export const STEP_PERCENT: Readonly<Record<StepName, number>> = {
  fetch: 5,
  detect: 20,
  build: 25,
  start: 70,
  health: 75,
  switch: 90,
  retire: 95,
  clean: 98,
};
