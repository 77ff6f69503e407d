import { expect, test } from "bun:test";
import type { FoundContainer } from "../../domain/migration/inventory.ts";
import { memoryApp } from "../support/apps/app.ts";
import { found, foundIn, inventoryOf } from "../support/inputs/found.ts";

const HOST = "many.example.com";
const PASSWORD = "correct horse battery";

/** Sends requests about a machine with these containers. */
async function machineWith(containers: readonly FoundContainer[]) {
  const app = await memoryApp();
  app.world.remoteHosts.add({
    host: HOST,
    hostKey: `SHA256:${"m".repeat(42)}A`,
    logins: [{ user: "deploy", password: PASSWORD }],
    engine: inventoryOf(containers),
  });
  const server = { name: "Many", sshHost: HOST, sshUser: "deploy", sshPassword: PASSWORD };
  const added = await app.call("POST", "/api/servers", { token: app.owner, body: server });
  const send = (route: string, body: object = {}) =>
    app.call("POST", `/api/migration/${route}`, {
      token: app.owner,
      body: { serverId: added.body.data.id, ...body },
    });
  return {
    scan: () => send("scan"),
    adopt: (serviceNames: readonly string[]) => send("adopt", { projectName: "Many", serviceNames }),
  };
}

function named(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `c${index}`);
}

test("a project has at most 100 adopted services", async () => {
  const names = named(101);
  const { adopt } = await machineWith(names.map((name) => found({ name })));
  const { body, status } = await adopt(names);
  const message = "a project has at most 100 services, and these are 101 containers. Adopt them as several projects";
  expect([status, body.details]).toEqual([400, [{ path: "serviceNames", message }]]);
  const fitting = await adopt(names.slice(1));
  expect([fitting.status, fitting.body.adopted.length]).toEqual([200, 100]);
});

test("more mounts than a definition can have are kept, and not shown", async () => {
  const mounts = named(101).map((name) => ({
    type: "bind" as const,
    source: `/srv/${name}`,
    target: `/${name}`,
    readOnly: false,
    anonymous: false,
  }));
  const { adopt } = await machineWith([found({ name: "web", mounts })]);
  const { body, status } = await adopt(["web"]);
  expect([status, body.services[0].volumes]).toEqual([200, undefined]);
  expect(body.warnings).toContain("web: its volumes is kept as it is, but cannot be shown or changed here");
});

test("a compose project that names more than 50 files is not compared with them", async () => {
  const files = named(51).map((name) => `/srv/${name}.yaml`);
  const labels = { "com.docker.compose.project.config_files": files.join(",") };
  const { scan } = await machineWith([foundIn("shop", "web", { labels })]);
  const { body } = await scan();
  expect(body.stack.warnings).toContain("shop: cannot compare it with its compose files: there are more than 50");
});
