import { newToken } from "../../../domain/identity/token.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";
import { testDatabase } from "../database/test_database.ts";
import { type ManagedServer, startManagedServer } from "../peers/managed_server.ts";
import { SlipwayProcess } from "../servers/slipway_process.ts";
import { TestProject } from "./deploying.ts";

/** What an engine tells about a container; tests read fields of every kind. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Inspected = any;

/** What must not change about a container that nobody touches. */
export interface Untouched {
  readonly id: string;
  readonly startedAt: string;
  readonly restarts: number;
  readonly status: string;
  readonly policy: string;
}

/** A project that was adopted, with the response. */
export interface AdoptedProject {
  readonly project: TestProject;
  readonly warnings: readonly string[];
}

/** A Slipway without a container engine on its own machine, and servers that it knows. */
export interface Migrating extends AsyncDisposable {
  readonly slipway: SlipwayProcess;
  /** The servers, in order, with their ids in Slipway. */
  readonly servers: readonly KnownServer[];
}

/** Starts Slipway and as many servers, each with the image `tiny:latest`. */
export async function migrating(count: number, settings: Readonly<Record<string, string>> = {}): Promise<Migrating> {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase({ prepare: migrate }));
  const started = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = opened.use(await startManagedServer());
      await server.loadTinyImage();
      return server;
    }),
  );
  const slipway = opened.use(
    await SlipwayProcess.start({
      DATABASE_URL: url,
      SLIPWAY_ADMIN_TOKEN: newToken(),
      // Long enough that a program that exits right after its start does not count as up.
      PROBATION_SECONDS: "1.5",
      ...settings,
    }),
  );
  const servers = await Promise.all(started.map((server) => KnownServer.add(slipway, server)));
  const lifetime = opened.move();
  return { slipway, servers, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** A server that Slipway knows. */
export class KnownServer {
  readonly slipway: SlipwayProcess;
  readonly machine: ManagedServer;
  readonly id: string;

  private constructor(slipway: SlipwayProcess, machine: ManagedServer, id: string) {
    this.slipway = slipway;
    this.machine = machine;
    this.id = id;
  }

  static async add(slipway: SlipwayProcess, machine: ManagedServer): Promise<KnownServer> {
    const { host, port, privateKey } = machine;
    const login = { sshHost: host, sshPort: port, sshUser: "root", sshPrivateKey: privateKey };
    const body = { name: crypto.randomUUID(), ...login };
    const added = await slipway.call("POST", "/api/servers", { token: slipway.owner, body });
    if (added.status !== 201) throw new Error(added.text);
    return new KnownServer(slipway, machine, added.body.data.id);
  }

  docker(...argv: readonly string[]): Promise<string> {
    return this.machine.docker(argv);
  }

  /** Adopts services as a project. */
  async adopt(projectName: string, serviceNames: readonly string[]): Promise<AdoptedProject> {
    const body = { serverId: this.id, projectName, serviceNames };
    const adopted = await this.slipway.call("POST", "/api/migration/adopt", { token: this.slipway.owner, body });
    if (adopted.status !== 200) throw new Error(adopted.text);
    return { project: TestProject.of(this.slipway, adopted.body.project), warnings: adopted.body.warnings };
  }

  /** The warnings of a scan. */
  async scanWarnings(): Promise<readonly string[]> {
    const body = { serverId: this.id };
    const scanned = await this.slipway.call("POST", "/api/migration/scan", { token: this.slipway.owner, body });
    if (scanned.status !== 200) throw new Error(scanned.text);
    return scanned.body.stack.warnings;
  }

  /** Inspects containers, in order. */
  async inspect(...containers: readonly string[]): Promise<readonly Inspected[]> {
    return containers.length === 0
      ? []
      : JSON.parse(await this.docker("inspect", "--type", "container", ...containers));
  }

  /** What must not change about containers that nobody touches. */
  async untouched(...containers: readonly string[]): Promise<readonly Untouched[]> {
    return (await this.inspect(...containers)).map(({ Id, State, RestartCount, HostConfig }: Inspected) => ({
      id: Id,
      startedAt: State.StartedAt,
      restarts: RestartCount,
      status: State.Status,
      policy: HostConfig.RestartPolicy.Name,
    }));
  }

  /** Inspects the containers that Slipway made for a project, optionally only those of a service. */
  async own({ id }: Pick<TestProject, "id">, service?: string): Promise<readonly Inspected[]> {
    const labels = [`slipway.project=${id}`, ...(service === undefined ? [] : [`slipway.service=${service}`])];
    const filters = labels.flatMap((label) => ["--filter", `label=${label}`]);
    const ids = await this.docker("ps", "--all", "--quiet", "--no-trunc", ...filters);
    return this.inspect(...ids.split("\n").filter((line) => line !== ""));
  }
}
