import { describe, expect, test } from "bun:test";
import { chooseRuntime } from "../../../application/deployments/engine/build/choose_runtime.ts";
import type { DeploymentPlan } from "../../../domain/deployments/deployment.ts";
import { NOTHING_DETECTED } from "../../../domain/detection/detection.ts";
import { recipe } from "../../../domain/detection/image_recipe.ts";
import type { Failure } from "../../../domain/failure.ts";
import { deploymentOf } from "../../support/database/store_builders.ts";

interface Situation {
  readonly plan?: Partial<DeploymentPlan>;
  readonly recipe?: boolean;
  readonly engine?: boolean;
  readonly preset?: "auto" | "docker" | "process";
}

/** The chosen runtime, or the error code. */
async function chosen({ plan = {}, recipe: known = true, engine = true, preset = "auto" }: Situation): Promise<string> {
  const full: DeploymentPlan = {
    ...deploymentOf({ organizationId: "org_1", projectId: "prj_1" }).plan,
    projectType: "app",
    startCommand: "serve",
    ...plan,
  };
  const found = { ...NOTHING_DETECTED, image: known ? recipe("node:22-bookworm-slim") : null };
  const containerEngine = { answers: async () => engine };
  return chooseRuntime({ plan: full, found }, { containerEngine, preset }).catch((error: Failure) => error.code);
}

describe("chooseRuntime()", () => {
  const CASES: readonly (readonly [what: string, situation: Situation, chosen: string])[] = [
    ["an app where an engine answers", {}, "docker"],
    ["an app where none answers", { engine: false }, "process"],
    ["an app that no image is known for", { recipe: false }, "process"],
    ["an app of a project that wants a process", { plan: { runtime: "process" } }, "process"],
    ["an app of a project that wants containers", { plan: { runtime: "docker" }, preset: "process" }, "docker"],
    ["an app where the operator wants processes", { preset: "process" }, "process"],
    ["an app that wants containers, of no known tools", { plan: { runtime: "docker" }, recipe: false }, "no_image"],
    ["a Dockerfile", { plan: { projectType: "docker" } }, "docker"],
    ["a Dockerfile where no engine answers", { plan: { projectType: "docker" }, engine: false }, "engine_away"],
    ["an app that wants containers where none answers", { plan: { runtime: "docker" }, engine: false }, "engine_away"],
    [
      "a site of files that wants containers",
      { plan: { projectType: "static", runtime: "docker" }, engine: false },
      "docker",
    ],
    [
      "a Dockerfile where processes are wanted",
      { plan: { projectType: "docker" }, preset: "process" },
      "runtime_unsupported",
    ],
    ["a site of files", { plan: { projectType: "static", startCommand: null } }, "process"],
    [
      "a site of files where containers are wanted",
      { plan: { projectType: "static" }, recipe: false, preset: "docker" },
      "docker",
    ],
    ["a site that is built", { plan: { projectType: "static", buildCommand: "make" } }, "docker"],
  ];
  test.each(CASES)("%s", async (_, situation, expected) => {
    expect(await chosen(situation)).toBe(expected);
  });
});
