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
    ["an app with an available engine", {}, "docker"],
    ["an app without an engine", { engine: false }, "process"],
    ["an app without a known base image", { recipe: false }, "process"],
    ["an app of a project set to processes", { plan: { runtime: "process" } }, "process"],
    ["an app of a project set to containers", { plan: { runtime: "docker" }, preset: "process" }, "docker"],
    ["an app on a server set to processes", { preset: "process" }, "process"],
    [
      "an app set to containers, without a known base image",
      { plan: { runtime: "docker" }, recipe: false },
      "no_image",
    ],
    ["a Dockerfile", { plan: { projectType: "docker" } }, "docker"],
    ["a Dockerfile without an engine", { plan: { projectType: "docker" }, engine: false }, "engine_away"],
    ["an app set to containers, without an engine", { plan: { runtime: "docker" }, engine: false }, "engine_away"],
    [
      "a site of files set to containers",
      { plan: { projectType: "static", runtime: "docker" }, engine: false },
      "docker",
    ],
    [
      "a Dockerfile on a server set to processes",
      { plan: { projectType: "docker" }, preset: "process" },
      "runtime_unsupported",
    ],
    ["a site of files", { plan: { projectType: "static", startCommand: null } }, "process"],
    [
      "a site of files on a server set to containers",
      { plan: { projectType: "static" }, recipe: false, preset: "docker" },
      "docker",
    ],
    ["a site that is built", { plan: { projectType: "static", buildCommand: "make" } }, "docker"],
  ];
  test.each(CASES)("%s", async (_, situation, expected) => {
    expect(await chosen(situation)).toBe(expected);
  });
});
