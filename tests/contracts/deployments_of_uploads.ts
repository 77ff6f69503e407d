import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import type { UploadSession, UploadState } from "../../domain/projects/upload.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aPlace, deploymentOf, founderOf } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";
import { PLENTY, sessionOf } from "../support/database/upload_session_builders.ts";

const NONE = { environment: new Map(), events: [] };

/** Contract tests for `Deployments` adapters: deployments made from an upload. */
export function deploymentsOfUploadsContract(
  name: string,
  open: () => Promise<
    WorldOf<"deployments" | "installation" | "organizations" | "projects" | "uploadSessions" | "elsewhere">
  >,
) {
  describe(`Deployments contract, of uploads: ${name}`, () => {
    const world = sharedWorld(open);

    async function anUpload(organizationId: string, state: UploadState = "ready"): Promise<UploadSession> {
      const session = sessionOf({ organizationId, userId: (await founderOf(world())).id, state });
      const creation = await world().uploadSessions.create(session, { lifetimeMs: 3_600_000, quota: PLENTY });
      if (creation.outcome !== "created") throw new Error(`Cannot set the test up: ${creation.outcome}`);
      return creation.session;
    }

    /** Tries to store a deployment, in one process or another; resolves to the deployment or the error code. */
    function make(at: { organizationId: string; projectId: string }, uploadId: string, index = 0) {
      const made = deploymentOf({ ...at, source: { kind: "upload", uploadId } });
      const { deployments } = index % 2 ? world().elsewhere : world();
      return deployments.create(made, NONE).catch((error: { code: string }) => error.code);
    }

    async function stateOf({ organizationId, id }: UploadSession): Promise<UploadState | undefined> {
      return (await world().uploadSessions.find(organizationId, id))?.state;
    }

    test("create() marks its upload as used and leaves the rest of it unchanged", async () => {
      const at = await aPlace(world());
      const upload = await anUpload(at.organizationId);
      expect(await make(at, upload.id)).toMatchObject({ version: 1, source: { kind: "upload", uploadId: upload.id } });
      const used = { ...upload, state: "used", expired: false } as const;
      expect(await world().uploadSessions.find(at.organizationId, upload.id)).toEqual(used);
    });

    test("concurrent create() calls in two processes use an upload only once", async () => {
      const at = await aPlace(world());
      const upload = await anUpload(at.organizationId);
      const made = await Promise.all(Array.from({ length: 8 }, (_, index) => make(at, upload.id, index)));
      const refused = made.filter((outcome) => outcome === "upload_not_ready");
      expect(refused).toHaveLength(7);
      const stored = await world().deployments.ofProject(at.projectId);
      expect(made.filter((outcome) => typeof outcome !== "string")).toEqual([...stored]);
      expect(stored[0]?.version).toBe(1);
    });

    test("concurrent create() of many uploads in two processes uses each and assigns every version once", async () => {
      const at = await aPlace(world());
      const uploads = await Promise.all(Array.from({ length: 12 }, () => anUpload(at.organizationId)));
      const made = await Promise.all(uploads.map(({ id }, index) => make(at, id, index)));
      const versions = made.map((deployment) => (deployment as Deployment).version).toSorted((a, b) => a - b);
      expect(versions).toEqual(uploads.map((_, index) => index + 1));
      expect(new Set(await Promise.all(uploads.map(stateOf)))).toEqual(new Set(["used"]));
    });

    test.each(["open", "receiving", "used"] as const)(
      "create() refuses an upload that is %s, and leaves it unchanged",
      async (state) => {
        const at = await aPlace(world());
        const upload = await anUpload(at.organizationId, state);
        expect(await make(at, upload.id)).toBe("upload_not_ready");
        expect(await stateOf(upload)).toBe(state);
        expect(await world().deployments.ofProject(at.projectId)).toEqual([]);
      },
    );

    test("create() refuses an unknown upload and one of another organization, and assigns no version", async () => {
      const [at, elsewhere] = [await aPlace(world()), await aPlace(world())];
      const foreign = await anUpload(elsewhere.organizationId);
      expect(await make(at, newId("upl"))).toBe("upload_not_ready");
      expect(await make(at, foreign.id)).toBe("upload_not_ready");
      expect(await stateOf(foreign)).toBe("ready");
      expect(await make(at, (await anUpload(at.organizationId)).id)).toMatchObject({ version: 1 });
    });

    test("uploadSessions.sweep() keeps the files of an upload until its deployment is built", async () => {
      const at = await aPlace(world());
      const upload = await anUpload(at.organizationId);
      const made = await make(at, upload.id);
      const swept = async () => (await world().uploadSessions.sweep([upload.id])).includes(upload.id);
      const become = (status: Deployment["status"]) =>
        world().deployments.change((made as Deployment).id, (deployment) => ({
          deployment: { ...deployment, status },
          events: [],
        }));
      expect(await swept()).toBe(false);
      await become("building");
      expect(await swept()).toBe(false);
      await become("failed");
      expect(await swept()).toBe(true);
    });

    test("uploadSessions.sweep() removes the files of an upload whose project was removed", async () => {
      const at = await aPlace(world());
      const upload = await anUpload(at.organizationId);
      await make(at, upload.id);
      await world().projects.remove(at.organizationId, at.projectId);
      expect(await world().uploadSessions.sweep([upload.id])).toContain(upload.id);
    });

    test("create() that is refused because of its project leaves the upload ready", async () => {
      const at = await aPlace(world());
      const upload = await anUpload(at.organizationId);
      expect(await make({ ...at, projectId: newId("prj") }, upload.id)).toBe("project_not_found");
      const busy = deploymentOf({ ...at, status: "building" });
      await world().deployments.create(busy, NONE);
      const second = deploymentOf({ ...at, status: "building", source: { kind: "upload", uploadId: upload.id } });
      const refused = await world()
        .deployments.create(second, NONE)
        .catch((error: { code: string }) => error.code);
      expect(refused).toBe("project_busy");
      expect(await stateOf(upload)).toBe("ready");
    });
  });
}
