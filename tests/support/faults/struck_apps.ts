import { afterAll, beforeAll, expect } from "bun:test";
import { STEPS, type StepName } from "../../../domain/deployments/deployment.ts";
import { TestProject } from "../apps/deploying.ts";
import type { FaultyServer, Strike, StruckProject } from "./fault_matrix.ts";
import { type CommitFiles, GitServer } from "../peers/git_server.ts";

/** The delay between the start of a step and the strike: long steps are struck in the middle, the others at once. */
const STRIKE_AFTER_MS: Readonly<Record<StepName, number>> = {
  fetch: 300,
  detect: 0,
  build: 700,
  start: 15,
  health: 400,
  switch: 1_500,
  retire: 0,
  clean: 0,
};

/** A strike in every step of a deployment. */
export const DEPLOYMENT_STRIKES: readonly Strike[] = STEPS.map((step) => ({
  step,
  sign: `"name":"${step}","status":"running"`,
  afterMs: STRIKE_AFTER_MS[step],
  // At the end of the switch it would be too late to cancel.
  cancelAfterMs: step === "switch" ? 0 : STRIKE_AFTER_MS[step],
}));

/** A deployment of an app after the strike. */
export interface StruckApp {
  readonly name: string;
  readonly project: TestProject;
  /** The id of the deployment that was struck. */
  readonly id: string;
  readonly outcome: "done" | "undone";
  /** The version that is live. */
  readonly version: string;
}

/** An app in a repository. */
export interface AppScene<Server extends FaultyServer> {
  files(version: string, options: { readonly slow: boolean; readonly name: string }): CommitFiles;
  /** The settings that its project is created with, besides its repository. */
  settings(name: string): Readonly<Record<string, unknown>>;
  /** Throws unless only the live release is left. */
  expectLeft(server: Server, app: StruckApp): Promise<void>;
}

/** Prepares deployments of an app from a separate git server, for the tests of one file. */
export function struckApps<Server extends FaultyServer>({ files, settings, expectLeft }: AppScene<Server>) {
  let git: GitServer;
  const slow = new Set<string>();

  beforeAll(async () => {
    git = await GitServer.start();
    git.intercept = async ({ url, method }) => {
      if (method === "POST" && [...slow].some((name) => url.includes(name))) await Bun.sleep(800);
      return undefined;
    };
  });
  afterAll(() => git?.[Symbol.asyncDispose]());

  return {
    /** The environment variables that the server needs. */
    settings: () => ({ GITHOST_WEB_URL: `http://127.0.0.1:${git.port}`, BUILD_CONCURRENCY: "20" }),

    /** A project whose first version is live and whose next ones are slow. */
    async prepared(server: Server, name: string): Promise<StruckProject> {
      const repository = await git.repository(`acme/${name}`);
      await repository.commit(files("v1", { slow: false, name }));
      const linked = { name, gitOwner: "acme", gitRepo: name };
      const project = await TestProject.create(server.slipway, { ...linked, ...settings(name) });
      await project.deployed();
      expect(await project.page()).toBe("v1");
      let [made, serving] = [1, 1];
      return {
        project,
        async next() {
          const number = ++made;
          await repository.commit(files(`v${number}`, { slow: true, name }));
          slow.add(name);
          const id = await project.deploy({ start: false });
          return {
            id,
            begin: () => project.call("POST", `/api/deployments/${id}/build`),
            isDone: async () => (await project.get(id)).status === "ready",
            done: () => project.deployed(id),
            async expectClean(outcome) {
              if (outcome === "done") serving = number;
              const version = `v${serving}`;
              expect(await project.page()).toBe(version);
              await expectLeft(server, { name, project, id, outcome, version });
            },
          };
        },
        async expectNext() {
          const version = `v${++made}`;
          slow.delete(name);
          await repository.commit(files(version, { slow: false, name }));
          await project.deployed();
          expect(await project.page()).toBe(version);
        },
      };
    },
  };
}
