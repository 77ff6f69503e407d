import { expect } from "bun:test";
import { TestProject } from "./deploying.ts";
import { eventually } from "./eventually.ts";
import type { FaultyServer, Strike, StruckProject } from "./fault_matrix.ts";
import { serviceApp, type ServiceAppOptions } from "./service_app.ts";
import { file } from "./tar_archive.ts";

/** How long after it was asked for a decision is struck: at once, and while the former version comes up. */
const STRUCK_AFTER_MS = { keep: [0], reject: [0, 1_500] } as const;
const DONE = { keep: "ready", reject: "rejected" } as const;
const DECIDED_MS = 60_000;

/** The strikes while a decision is carried out. */
export function decisionStrikes(what: "keep" | "reject"): readonly Strike[] {
  return STRUCK_AFTER_MS[what].map((afterMs) => ({
    step: `${what}-${afterMs}`,
    sign: `"asked":"${what}"`,
    afterMs,
  }));
}

/** What a decision was about when it is over. */
export interface StruckDecision {
  readonly name: string;
  readonly project: TestProject;
  /** The deployment that was decided about. */
  readonly id: string;
  /** What the service behind the other says first. */
  readonly back: string;
}

/** Where a decision is struck. */
export interface DecisionScene<Server extends FaultyServer> {
  readonly what: "keep" | "reject";
  /** Fails unless what serves is all that is left. */
  expectLeft(server: Server, decision: StruckDecision): Promise<void>;
}

/**
 * Prepares deployments that failed in part and are to be decided about. What served before is called the later version of both, so that
 * visitors see versions grow when they are led back.
 */
export function struckDecisions<Server extends FaultyServer>({ what, expectLeft }: DecisionScene<Server>) {
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
            // The answer may never come: what counts is what is stored.
            void project.call("POST", `/api/deployments/${id}/${what}`).catch(() => {});
          },
          isDone: async () => (await status()) === DONE[what],
          async done() {
            await eventually(status, (found) => found === DONE[what], DECIDED_MS).catch(async (cause: Error) => {
              throw new Error(`${cause.message}\n${await project.log(id)}`, { cause });
            });
          },
          async expectClean() {
            expect(await project.page()).toBe(what === "keep" ? "v1" : "v2");
            await expectLeft(server, { name, project, id, back: "v2" });
          },
        };
      },
      async expectNext() {
        await project.deployed(await upload("v3"));
        expect(await project.page()).toBe("v3");
        expect(await project.page("/back")).toMatch(/^v3 starts=v2,.*v3 once=v2,.*v3$/);
      },
    };
  };
}
