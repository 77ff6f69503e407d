import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../domain/services/service_spec.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, aPlace, deploymentOf, serviceSetOf } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const NONE = { environment: new Map<string, Secret>(), events: [] };

/** Texts that break faulty quoting, parsing or truncation. */
const TEXTS = [...oddTexts, "", "a\0b", "a\ud800b", "x".repeat(100_000)];

const FULL: ServiceSpec = {
  name: "web",
  from: { kind: "dockerfile", context: "", dockerfile: null, text: "FROM x\n", target: null, args: { A: "\0" } },
  environment: Object.fromEntries(TEXTS.map((text, index) => [`KEY_${TEXTS.length - index}`, text])),
  ports: [80, 443],
  dependsOn: [{ service: "db", condition: "service_healthy", restart: true, required: false }],
  oneShot: true,
  container: {
    ...PLAIN_CONTAINER,
    command: TEXTS,
    mounts: [{ kind: "volume", name: null, external: false, target: "/data", readOnly: false }],
    files: [{ target: "/run/secrets/key", content: oddTexts.join("\n"), mode: 0o440, uid: 0, gid: 0 }],
    healthcheck: { test: { shell: "true" }, intervalMs: 1, timeoutMs: null, retries: null, startPeriodMs: null },
    limits: { ...PLAIN_CONTAINER.limits, cpus: 0.5 },
  },
};

/** Every field set. */
const WHOLE: ServiceSet = {
  given: [FULL],
  wanted: [{ spec: FULL, image: "sha256:1", madeFrom: "sha256:2" }],
  instead: [{ spec: { ...FULL, name: "former" }, image: null, madeFrom: null }],
};

/** Contract tests for `ServiceSets` adapters. */
export function serviceSetsContract(
  name: string,
  open: () => Promise<
    WorldOf<"serviceSets" | "deployments" | "elsewhere" | "installation" | "organizations" | "projects">
  >,
) {
  describe(`Compositions contract: ${name}`, () => {
    const world = sharedWorld(open);

    test("read() returns what a deployment was created with, unchanged, in every process", async () => {
      const made = deploymentOf(await aPlace(world()));
      await world().deployments.create(made, { ...NONE, serviceSet: WHOLE });
      expect(await world().serviceSets.read(made.id)).toEqual(WHOLE);
      expect(await world().elsewhere.serviceSets.read(made.id)).toEqual(WHOLE);
    });

    test("read() finds nothing for a deployment created without one, nor for an unknown one", async () => {
      const { id } = await aDeployment(world());
      expect(await world().serviceSets.read(id)).toBeUndefined();
      expect(await world().serviceSets.read(newId("dep"))).toBeUndefined();
    });

    test("write() stores a first one and replaces it, of that deployment only", async () => {
      const at = await aPlace(world());
      const [one, other] = [await aDeployment(world(), at), await aDeployment(world(), at)];
      await world().serviceSets.write(other.id, serviceSetOf("web"));
      await world().serviceSets.write(one.id, serviceSetOf("web", "db"));
      await world().elsewhere.serviceSets.write(one.id, WHOLE);
      expect(await world().serviceSets.read(one.id)).toEqual(WHOLE);
      expect(await world().serviceSets.read(other.id)).toEqual(serviceSetOf("web"));
      expect(await world().deployments.get(one.id)).toEqual(one);
    });

    test("write() is refused for an unknown deployment", async () => {
      const id = newId("dep");
      await expect(world().serviceSets.write(id, WHOLE)).rejects.toMatchObject({ kind: "not_found" });
      expect(await world().serviceSets.read(id)).toBeUndefined();
    });

    test("a deployment that is refused leaves no service set", async () => {
      const made = deploymentOf({ ...(await aPlace(world())), projectId: newId("prj") });
      const creating = world().deployments.create(made, { ...NONE, serviceSet: WHOLE });
      await expect(creating).rejects.toMatchObject({ kind: "not_found" });
      expect(await world().serviceSets.read(made.id)).toBeUndefined();
    });

    test("removal of the deployment, or of its project, removes its service set", async () => {
      const at = await aPlace(world());
      const [gone, kept] = [deploymentOf(at), deploymentOf(at)];
      for (const made of [gone, kept]) await world().deployments.create(made, { ...NONE, serviceSet: WHOLE });
      await world().deployments.remove(at.organizationId, gone.id);
      expect(await world().serviceSets.read(gone.id)).toBeUndefined();
      await expect(world().serviceSets.write(gone.id, WHOLE)).rejects.toMatchObject({ kind: "not_found" });
      expect(await world().serviceSets.read(kept.id)).toEqual(WHOLE);
      await world().projects.remove(at.organizationId, at.projectId);
      expect(await world().serviceSets.read(kept.id)).toBeUndefined();
    });

    test("write() during removal of the deployment stores nothing, and fails as for an unknown one", async () => {
      for (let round = 0; round < 10; round++) {
        const { id, organizationId } = await aDeployment(world());
        const [written] = await Promise.allSettled([
          world().serviceSets.write(id, serviceSetOf("web")),
          world().elsewhere.deployments.remove(organizationId, id),
        ]);
        if (written.status === "rejected") expect(written.reason).toMatchObject({ kind: "not_found" });
        expect(await world().serviceSets.read(id)).toBeUndefined();
      }
    });
  });
}
