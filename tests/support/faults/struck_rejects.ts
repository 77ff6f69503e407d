import { expect } from "bun:test";
import { TestProject } from "../apps/deploying.ts";
import { eventually } from "../eventually.ts";
import type { FaultyServer, Strike, StruckProject } from "./fault_matrix.ts";
import { backPage, serviceApp, type ServiceAppOptions } from "../servers/service_app.ts";
import { file } from "../inputs/tar_archive.ts";

const REJECTED_MS = 60_000;

/** A reject is struck while the former version starts. */
export const REJECT_STRIKES: readonly Strike[] = [
  { step: "reject", sign: '"pendingDecision":"reject"', afterMs: 1_500 },
];

/** A reject after the strike. */
export interface StruckReject {
  readonly name: string;
  readonly project: TestProject;
  /** The id of the rejected deployment. */
  readonly id: string;
  /** The version that the `back` service reports. */
  readonly back: string;
}

/**
 * Prepares partially failed deployments to reject. `expectLeft` throws unless only the live release is left. The former
 * version has the higher number of the two, so that visitors see the version increase when the reject restores it.
 */
export function struckRejects<Server extends FaultyServer>(
  expectLeft: (server: Server, reject: StruckReject) => Promise<void>,
) {
  return async function (server: Server, name: string): Promise<StruckProject> {
    const project = await TestProject.create(server.slipway, { name, publicEndpoints: [{ service: "web" }] });
    const upload = async (version: string, options: Omit<ServiceAppOptions, "name"> = {}) => {
      const files = Object.entries(serviceApp(version, { name, ...options }));
      return (await project.upload(files.map(([path, text]) => file(path, text)))).id;
    };
    return {
      project,
      async next() {
        await project.deployed(await upload("v2", { slow: true }));
        const id = await upload("v1", { broken: true });
        expect((await project.settled(id)).status).toBe("partial_failure");
        expect(await project.page()).toBe("v1");
        const status = async () => (await project.get(id)).status as string;
        return {
          id,
          async begin() {
            // The response may never arrive; only the stored state counts.
            void project.call("POST", `/api/deployments/${id}/reject`).catch(() => {});
          },
          isDone: async () => (await status()) === "rejected",
          async done() {
            await eventually(status, (found) => found === "rejected", REJECTED_MS).catch(async (cause: Error) => {
              throw new Error(`${cause.message}\n${await project.log(id)}`, { cause });
            });
          },
          async expectClean() {
            expect(await project.page()).toBe("v2");
            await expectLeft(server, { name, project, id, back: "v2" });
          },
        };
      },
      async expectNext() {
        await project.deployed(await upload("v3"));
        expect(await project.page()).toBe("v3");
        expect(await backPage(project)).toMatch(/^v3 starts=v2,.*v3 once=v2,.*v3$/);
      },
    };
  };
}
