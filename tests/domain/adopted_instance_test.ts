import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  adoptedInstance,
  adoptedInstanceId,
  instanceIdOf,
  runnableKindOf,
  serverOf,
} from "../../domain/deployments/instance_id.ts";
import { newId } from "../../domain/id.ts";

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
/** Names of adopted services, also those that look like the rest of an id. */
const serviceName = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/),
  hex(24).map((text) => `a-a${text}-prj_1`),
  fc.constant("a-1-srv_1-c"),
);

describe("adoptedInstanceId()", () => {
  test("says which container of which server it is, and for what", () => {
    fc.assert(
      fc.property(serviceName, hex(64), (service, containerId) => {
        const adopted = {
          deploymentId: newId("dep"),
          projectId: newId("prj"),
          serverId: newId("srv"),
          service,
          containerId,
        };
        const instanceId = adoptedInstanceId(adopted);
        expect(adoptedInstance(instanceId)).toEqual({ ...adopted, containerId: containerId.slice(0, 24) });
        expect(serverOf(instanceId)).toBe(adopted.serverId);
        expect(runnableKindOf(instanceId)).toBe("image");
        expect(instanceId).toMatch(/^[A-Za-z0-9_-]{1,200}$/);
      }),
    );
  });
});

describe("adoptedInstance()", () => {
  test("finds no container in the id of an instance that was started here, whatever its service is called", () => {
    const attempts = fc.oneof(fc.nat(), fc.constant("1r2-3"));
    const place = fc.constantFrom("folder" as const, "image" as const, { serverId: newId("srv") });
    fc.assert(
      fc.property(serviceName, attempts, place, (service, attempt, where) => {
        const owner = { id: newId("dep"), attempts: attempt };
        expect(adoptedInstance(instanceIdOf(owner, service, where))).toBeUndefined();
      }),
    );
  });
});
