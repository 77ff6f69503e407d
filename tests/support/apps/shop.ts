import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Files, TestProject } from "./deploying.ts";
import type { DockerServer } from "../servers/docker_server.ts";
import { eventually } from "../eventually.ts";
import { file, tarGz } from "../inputs/tar_archive.ts";

const EXAMPLE = join(import.meta.dir, "../../../examples/compose-shop");

/** The services of the example. */
export const SHOP_SERVICES = ["api", "db", "migrate", "web", "worker"] as const;

export type ShopService = (typeof SHOP_SERVICES)[number];

/**
 * The version of each part of the shop. A broken service exits on start; an unbuildable one has a failing step in its
 * Dockerfile.
 */
export interface ShopState {
  readonly web?: string;
  readonly api?: string;
  readonly worker?: "one" | "broken" | "unbuildable";
  /** The schema version that the migration writes. */
  readonly schema?: number;
}

/** A container as the engine reports it. */
export interface Box {
  readonly id: string;
  readonly image: string;
  readonly startedAt: string;
  readonly running: boolean;
}

/** The files of the example in a given state. */
export function shopFiles({ web = "one", api = "one", worker = "one", schema = 1 }: ShopState = {}): Files {
  const files = Object.fromEntries(filesBelow(EXAMPLE).map((path) => [relative(EXAMPLE, path), textOf(path)]));
  edit(files, "web/server.pl", "$VERSION = 'one'", `$VERSION = '${web}'`);
  edit(files, "api/server.pl", "$VERSION = 'one'", `$VERSION = '${api}'`);
  edit(files, "migrate/migrate.sh", "SCHEMA=1", `SCHEMA=${schema}`);
  if (api === "broken") edit(files, "api/server.pl", "my $server =", 'die "no api today\\n";\nmy $server =');
  if (worker === "broken") edit(files, "worker/worker.sh", "trap 'exit 0' TERM", "echo no worker today >&2; exit 1");
  if (worker === "unbuildable") edit(files, "worker/Dockerfile", "COPY worker.sh", "RUN exit 7\nCOPY worker.sh");
  return files;
}

/** The example deployed on a server, changed as its owner. */
export class Shop {
  readonly project: TestProject;
  readonly #server: DockerServer;

  private constructor(server: DockerServer, project: TestProject) {
    this.#server = server;
    this.project = project;
  }

  static async open(server: DockerServer, name: string): Promise<Shop> {
    return new Shop(server, await TestProject.create(server.slipway, { name }));
  }

  /** Uploads the shop in a given state, requests a deployment and returns its id. */
  async upload(state: ShopState = {}): Promise<string> {
    const { project } = this;
    const { sessionId } = (await project.call("POST", "/api/projects/folder/session", { body: {} })).body;
    const entries = Object.entries(shopFiles(state)).map(([name, content]) => file(name, content));
    await project.call("POST", `/api/projects/folder/upload/${sessionId}`, { raw: tarGz(entries) });
    const body = {
      projectId: project.id,
      uploadSessionId: sessionId,
      publicEndpoints: [{ service: "web" }, { service: "api", targetPath: "/api" }],
    };
    const made = await project.call("POST", "/api/deployments/build/access", { body });
    if (made.status !== 200) throw new Error(made.text);
    return made.body.deployment_id;
  }

  /** Waits for a deployment that awaits a decision (`partial_failure`). Throws with the log if it settles otherwise. */
  async pending(id: string) {
    const deployment = await this.project.settled(id);
    const statuses = statusesOf(deployment.services);
    if (deployment.status === "partial_failure") return { ...deployment, statuses };
    throw new Error(`${deployment.status} ${JSON.stringify(statuses)}\n${await this.project.log(id)}`);
  }

  /** The status of each service in a deployment. */
  async statuses(id: string): Promise<Readonly<Record<string, string>>> {
    return statusesOf((await this.project.get(id)).services);
  }

  /** Waits until there is at most one container per service, and returns them by service. */
  async boxes(): Promise<Readonly<Record<string, Box>>> {
    const found = await eventually(
      () => this.#containers(),
      (all) => new Set(all.map(([service]) => service)).size === all.length,
    );
    return Object.fromEntries(found);
  }

  /** The volumes of the project. */
  async volumes(): Promise<readonly string[]> {
    type Listed = { readonly Volumes: readonly { readonly Name: string }[] | null };
    const { Volumes } = await this.#server.list<Listed>("/volumes", this.#label("scope"));
    return (Volumes ?? []).map(({ Name }) => Name);
  }

  /** Reads a key from the database. */
  async stored(key: string): Promise<string> {
    const { db } = await this.boxes();
    return (await this.#server.docker("exec", db!.id, "redis-cli", "GET", key)).join("\n");
  }

  async #containers(): Promise<[string, Box][]> {
    const listed = await this.#server.list<readonly { readonly Id: string }[]>(
      "/containers/json",
      this.#label("project"),
    );
    // A container may disappear between the two requests.
    const inspected = await Promise.all(listed.map(({ Id }) => this.#server.inspect<Inspected>(Id)));
    return inspected.filter((each) => each !== undefined).map(boxOf);
  }

  #label(what: "project" | "scope"): string {
    return `slipway.${what}=${this.project.id}`;
  }
}

function statusesOf(services: readonly { readonly name: string; readonly status: string }[]) {
  return Object.fromEntries(services.map(({ name, status }) => [name, status]));
}

interface Inspected {
  readonly Id: string;
  readonly Image: string;
  readonly State: { readonly StartedAt: string; readonly Running: boolean };
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
}

function boxOf({ Id, Image, State, Config }: Inspected): [string, Box] {
  const box = { id: Id, image: Image, startedAt: State.StartedAt, running: State.Running };
  return [Config.Labels["slipway.service"]!, box];
}

function edit(files: Record<string, string>, path: string, from: string, to: string): void {
  const text = files[path];
  if (!text?.includes(from)) throw new Error(`Cannot change ${path}: it does not contain ${from}`);
  files[path] = text.replace(from, () => to);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function textOf(path: string): string {
  return readFileSync(path, "utf8");
}
