import { expect, test } from "bun:test";
import { refuseUnknownService } from "../../domain/deployments/refuse_unknown_service.ts";
import { pendingService } from "../../application/deployments/engine/changeover/service_ledger.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { deploymentOf } from "../support/database/store_builders.ts";

function deployed(projectType: Deployment["plan"]["projectType"], ...names: readonly string[]): Deployment {
  const made = deploymentOf({ organizationId: "org_1", projectId: "prj_1" });
  const services = names.map((name) => pendingService(name, null));
  return { ...made, plan: { ...made.plan, projectType }, services };
}

test("refuseUnknownService() accepts every service that a deployment has, and none given", () => {
  const shop = deployed("services", "web", "api");
  for (const service of [undefined, "web", "api"]) refuseUnknownService(shop, service);
  refuseUnknownService(deployed("static"), "app");
});

test("refuseUnknownService() names the services, and the one that was probably meant", () => {
  expect(() => refuseUnknownService(deployed("services", "web", "api"), "wep")).toThrow(
    'Cannot accept "service": this deployment has no such service (did you mean "web"?); its services are web, api',
  );
  expect(() => refuseUnknownService(deployed("static"), "web")).toThrow("; its only service is app");
  expect(() => refuseUnknownService(deployed("services", "web"), "app")).toThrow("; its only service is web");
});

test("refuseUnknownService() accepts any service before the services are known", () => {
  for (const type of [null, "services"] as const) refuseUnknownService(deployed(type), "web");
});
