import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SourceFolder, type TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { BASE } from "../support/peers/docker_images.ts";
import { DOCKER_HOST } from "../support/peers/docker_world.ts";
import {
  NOTHING,
  type SlipwayWithServer,
  slipwayWithServer,
  tinyApp,
  tinyService,
  whenPage,
} from "../support/servers/slipway_with_server.ts";
import { steadyLoad } from "../support/servers/steady_load.ts";

let world: SlipwayWithServer;
beforeAll(async () => {
  world = await slipwayWithServer();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const info = async (project: TestProject, id: string) => project.call("GET", `/api/deployments/${id}/info`);

/** Everything on the server that is not Slipway's: ids, states and start times. */
async function others(): Promise<string> {
  const { server } = world;
  const format = "{{.Id}} {{.State.Status}} {{.State.StartedAt}} {{.RestartCount}}";
  const inspected = await server.docker(["inspect", "--format", format, "bystander", "stopped"]);
  const volume = await server.docker(["volume", "inspect", "keepsake"]);
  const network = await server.docker(["network", "inspect", "--format", "{{.Id}} {{json .Containers}}", "meadow"]);
  return [inspected, volume, network].join("\n");
}

describe("a project on a server", () => {
  test("runs images that the server has, and shows logs and usage and restarts", async () => {
    const { serverId } = world;
    const project = await world.project({ name: "images", services: [tinyService("hello")] });
    const id = await world.deployedThere(project);
    expect(await project.page()).toBe("hello");
    const [service] = (await info(project, id)).body.data.services;
    expect(service).toMatchObject({ name: "web", status: "running", restarts: 0 });
    const container = await world.server.docker(["inspect", "--format", "{{.Name}}", service.containerId]);
    expect(container).toContain(serverId);
    expect(await project.log(id, "runtime")).toContain("serving");
    const { data: usage } = (await project.call("GET", `/api/deployments/${id}/usage`)).body;
    expect(usage.memoryBytes).toBeGreaterThan(0);
    expect((await project.call("POST", `/api/deployments/${id}/restart`)).status).toBe(200);
    expect(await whenPage(project, "hello")).toBe("hello");
    expect((await info(project, id)).body.data.services).toMatchObject([{ status: "running", restarts: 1 }]);
    await project.call("DELETE", `/api/projects/${project.id}`);
  });

  test("is built there, and redeployed and rolled back without a failed request", async () => {
    await using source = await SourceFolder.of(tinyApp("v0"));
    const project = await world.project({ name: "built", localPath: source.path });
    const made = [await world.deployedThere(project)];
    expect(await project.log(made[0]!)).toContain("FROM docker.io/library/tiny:latest");
    const order = ["v0", "v1", "v2"];
    const load = steadyLoad({
      port: world.slipway.edgePort,
      hostname: project.hostname,
      keepAlive: 2,
      fresh: 1,
      isOlder: (one, other) => order.indexOf(one) < order.indexOf(other),
    });
    for (const version of order.slice(1)) {
      await source.write(tinyApp(version));
      made.push(await project.deployed());
      await load.saw(version);
    }
    const forward = await load.stop();
    expect([forward.failures, forward.wentBack, forward.versions]).toEqual([[], [], order]);
    const back = steadyLoad({
      port: world.slipway.edgePort,
      hostname: project.hostname,
      keepAlive: 2,
      fresh: 1,
      isOlder: (one, other) => one === "v2" && other === "v0",
    });
    await back.saw("v2");
    await project.deployed(await project.again(made[0]!, "rollback"));
    await back.saw("v0");
    const { failures, wentBack, versions } = await back.stop();
    expect([failures, wentBack, versions]).toEqual([[], [], ["v2", "v0"]]);
    const label = `slipway.project=${project.id}`;
    const left = async () => (await world.labelled(label)).containers.length;
    expect(await eventually(left, (count) => count === 1)).toBe(1);
    await project.call("DELETE", `/api/projects/${project.id}`);
  });

  test("is built on this machine if that is asked for, and runs there without it", async () => {
    const { server, slipway } = world;
    const files = tinyApp("sent");
    await using source = await SourceFolder.of({
      ...files,
      Dockerfile: String(files["Dockerfile"]).replace("tiny:latest", BASE),
    });
    await slipway.kill();
    await slipway.start({ DOCKER_HOST });
    const project = await world.project({ name: "sent", localPath: source.path });
    const id = await world.deployedThere(project, { buildStrategy: "local" });
    expect(await project.page()).toBe("sent");
    // The server has the layers of the base image.
    expect(await project.log(id)).toMatch(/Sent the image to the server: 2 layers, \d+ kB/);
    const [{ image, containerId }] = (await info(project, id)).body.data.services;
    expect(await server.docker(["inspect", "--format", "{{.Image}}", containerId])).toBe(image);
    await slipway.kill();
    await slipway.start();
    expect(await whenPage(project, "sent")).toBe("sent");
    await project.call("DELETE", `/api/projects/${project.id}`);
  });

  test("of several services finds each by its name, and leaves nothing behind when it is deleted", async () => {
    const { server } = world;
    await server.docker(["network", "create", "meadow"]);
    await server.docker(["volume", "create", "keepsake"]);
    const idle = ["run", "--detach", "--network", "meadow", "--volume", "keepsake:/kept"];
    await server.docker([...idle, "--name", "bystander", "tiny"]);
    await server.docker([...idle, "--name", "stopped", "tiny", "true"]);
    const before = await eventually(others, (text) => text.includes("exited"));
    const compose = `
services:
  front:
    image: tiny:latest
    ports: ["8080"]
    depends_on: [back]
    command: ["sh", "-c", "mkdir -p /www; until wget -qO /www/index.html http://back:9090/; do sleep 0.1; done; exec httpd -f -p 8080 -h /www"]
  back:
    image: tiny:latest
    volumes: ["data:/data"]
    command: ["sh", "-c", "printf found >/data/index.html; exec httpd -f -p 9090 -h /data"]
volumes:
  data:
`;
    await using source = await SourceFolder.of({ "compose.yaml": compose });
    const project = await world.project({ name: "composed", localPath: source.path });
    const first = await world.deployedThere(project);
    expect(await project.page()).toBe("found");
    const again = await project.deployed();
    const { services } = await project.get(again);
    expect(services).toMatchObject([{ status: "unchanged" }, { status: "unchanged" }]);
    expect((await info(project, first)).status).toBe(200);
    expect((await world.labelled(`slipway.project=${project.id}`)).containers).toHaveLength(2);
    expect((await world.labelled(`slipway.scope=${project.id}`)).volumes).toHaveLength(1);
    const gone = await project.call("DELETE", `/api/projects/${project.id}?volumes=true`);
    expect(gone.status).toBe(200);
    const left = () => world.labelled("slipway.installation");
    expect(await eventually(left, (found) => Bun.deepEquals(found, NOTHING))).toEqual(NOTHING);
    expect(await others()).toBe(before);
    await server.docker(["rm", "--force", "bystander", "stopped"]);
  });
});

describe("when Slipway is killed", () => {
  test("what runs on the server goes on, and a restarted Slipway leads to it and finishes what it had begun", async () => {
    const { slipway } = world;
    await using source = await SourceFolder.of(tinyApp("v1"));
    const project = await world.project({ name: "orphaned", localPath: source.path });
    const live = await world.deployedThere(project);
    const container = (await info(project, live)).body.data.services[0].containerId;
    await slipway.kill();
    await slipway.start();
    expect(await whenPage(project, "v1")).toBe("v1");
    expect((await info(project, live)).body.data.services).toMatchObject([
      { containerId: container, restarts: 0, status: "running" },
    ]);
    await source.write(tinyApp("v2", { slow: true }));
    const begun = await project.deploy();
    await project.reached(begun, "build");
    await slipway.kill();
    await slipway.start();
    expect(await whenPage(project, "v1")).toBe("v1");
    await project.deployed(begun);
    expect(await project.page()).toBe("v2");
    await project.call("DELETE", `/api/projects/${project.id}`);
  });
});
