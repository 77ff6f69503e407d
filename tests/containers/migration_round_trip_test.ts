import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sameContainer } from "../support/apps/same_container.ts";
import {
  type AdoptedProject,
  type Inspected,
  type KnownServer,
  type Migrating,
  migrating,
} from "../support/apps/taken_over.ts";
import { copyImage } from "../support/runner/base_image.ts";
import { CONTAINERS, type HandMadeContainer, NETWORKS, UNREPRODUCIBLE } from "../support/inputs/container_options.ts";

const names = Object.keys(CONTAINERS);

/** Containers of all kinds are adopted on one server, and moved to another one that has nothing but their images. */
let world: Migrating;
let first: KnownServer;
let second: KnownServer;
let before: ReadonlyMap<string, Inspected>;
let adopted: AdoptedProject;
let left: string;
beforeAll(async () => {
  world = await migrating(2);
  [first, second] = world.servers as [KnownServer, KnownServer];
  await loadFurnished();
  for (const [name, options] of Object.entries(NETWORKS)) await first.docker("network", "create", ...options, name);
  await startAll(CONTAINERS);
  const inspected = await first.inspect(...names);
  before = new Map(names.map((name, index) => [name, sameContainer(inspected[index])]));
  await first.docker("exec", "volumes", "sh", "-c", "echo original >/data/mark");
  adopted = await first.adopt("Round trip", names);
  left = await move(adopted);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const FURNISHED = `FROM tiny:latest
ENV MODE=calm
LABEL origin=image
EXPOSE 8080
VOLUME /data
WORKDIR /srv
STOPSIGNAL SIGUSR1
HEALTHCHECK --interval=1s --timeout=5s --retries=3 CMD test -e /data
ENTRYPOINT ["sh", "-c"]
CMD ["trap 'exit 0' TERM USR1; sleep 100000 & wait"]
`;

/** Puts an image that says a lot itself on both servers. */
async function loadFurnished(): Promise<void> {
  await first.machine.docker(["build", "--tag", "furnished:latest", "-"], { input: Buffer.from(FURNISHED) });
  await copyImage({ from: first.machine.engine, to: second.machine.engine }, "furnished:latest");
}

async function startAll(containers: Readonly<Record<string, HandMadeContainer>>): Promise<void> {
  const tiny = await first.docker("image", "inspect", "--format", "{{.Id}}", "tiny:latest");
  for (const [name, { options, command, image }] of Object.entries(containers)) {
    const from = image === "by-id" ? tiny : `${image ?? "tiny"}:latest`;
    const words = options.map((option) => `--${option}`);
    await first.docker("run", "--detach", `--name=${name}`, ...words, from, ...command);
  }
}

/** Deploys a project to the second server; resolves to its log if not everything came up. */
async function move({ project }: AdoptedProject): Promise<string> {
  const body = { projectId: project.id, deployTarget: "server", serverId: second.id };
  const made = await project.call("POST", "/api/deployments/build/access", { body });
  if (made.status !== 200) throw new Error(made.text);
  const { status, services } = await project.settled(made.body.deployment_id);
  if (status === "ready") return "";
  const failed = services.filter(({ error }: Inspected) => error !== null);
  return failed.map(({ name, error }: Inspected) => `${name}: ${error}`).join("\n") || status;
}

describe("containers of all kinds that were moved to another server", () => {
  test("all came up", () => {
    expect(left).toBe("");
  });

  test.each(names)("%s is as it was", async (name) => {
    const [moved] = await second.own(adopted.project, name);
    expect(moved).toBeDefined();
    expect(sameContainer(moved)).toEqual(before.get(name));
  });

  test("left the originals where they were, with their data", async () => {
    const originals = await first.untouched(...names);
    expect(originals.filter(({ status, policy }) => status !== "exited" || policy !== "no")).toEqual([]);
    const mark = await first.docker("run", "--rm", "--volume", "trip_data:/d", "tiny:latest", "cat", "/d/mark");
    expect(mark).toBe("original");
    const there = await second.docker("run", "--rm", "--volume", "trip_data:/d", "tiny:latest", "ls", "/d");
    expect(there).toBe("");
  });
});

describe("a container that cannot be made again on another server", () => {
  beforeAll(async () => {
    await first.docker("start", "without-options", "shareable-memory", "volumes");
  });

  test.each(Object.keys(UNREPRODUCIBLE))("%s is found with a warning", async (name) => {
    await startAll({ [name]: UNREPRODUCIBLE[name]! });
    const warnings = (await first.scanWarnings()).filter((warning) => warning.startsWith(`${name}: `));
    // Of every container here: its image is in no registry.
    expect(warnings.filter((warning) => !warning.includes("its image tiny:latest"))).not.toEqual([]);
  });
});
