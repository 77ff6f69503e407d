import { type Files, TestProject } from "../apps/deploying.ts";
import { eventually } from "../eventually.ts";
import { type ManagedServer, startManagedServer } from "../peers/managed_server.ts";
import { SlipwayProcess } from "./slipway_process.ts";

/** A Slipway process without a container engine of its own, and a managed server that it knows. */
export interface SlipwayWithServer extends AsyncDisposable {
  readonly slipway: SlipwayProcess;
  readonly server: ManagedServer;
  readonly serverId: string;
  /** Creates a project; its deployments go to the server once it was deployed there. */
  project(body: Readonly<Record<string, unknown>>): Promise<TestProject>;
  /** Deploys a project to the server; resolves to the id of the deployment. Throws unless it becomes ready. */
  deployedThere(project: TestProject, request?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Requests a deployment to the server; resolves to its id. */
  deployThere(project: TestProject, request?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The ids of everything on the server with this label, by kind. */
  labelled(label: string): Promise<Leftovers>;
}

/** What an engine has. */
export interface Leftovers {
  readonly containers: readonly string[];
  readonly networks: readonly string[];
  readonly volumes: readonly string[];
}

export const NOTHING: Leftovers = { containers: [], networks: [], volumes: [] };

/** Starts both. Disposal removes both. */
export async function slipwayWithServer(): Promise<SlipwayWithServer> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await startManagedServer());
  const slipway = opened.use(await SlipwayProcess.start());
  await server.loadTinyImage();
  const { host: sshHost, port: sshPort, privateKey: sshPrivateKey, hostKey } = server;
  const body = { name: "Berlin", sshHost, sshPort, sshUser: "worker", sshPrivateKey, hostKey };
  const made = await slipway.call("POST", "/api/servers", { token: slipway.owner, body });
  if (made.status !== 201) throw new Error(made.text);
  const serverId: string = made.body.data.id;
  const deployThere: SlipwayWithServer["deployThere"] = async (project, request = {}) => {
    const given = { projectId: project.id, deployTarget: "server", serverId, ...request };
    const answer = await project.call("POST", "/api/deployments/build/access", { body: given });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.deployment_id;
  };
  const listed = async (words: readonly string[], label: string) => {
    const output = await server.docker([...words, "--quiet", "--filter", `label=${label}`]);
    return output.split("\n").filter((line) => line !== "");
  };
  const lifetime = opened.move();
  return {
    slipway,
    server,
    serverId,
    project: (settings) => TestProject.create(slipway, settings),
    deployThere,
    deployedThere: async (project, request) => project.deployed(await deployThere(project, request)),
    labelled: async (label) => ({
      containers: await listed(["ps", "--all"], label),
      networks: await listed(["network", "ls"], label),
      volumes: await listed(["volume", "ls"], label),
    }),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

const SERVING = "echo serving; exec httpd -f -p 8080 -h /www";

/** A service from the tiny image that answers with a text. */
export function tinyService(text: string) {
  const command = ["sh", "-c", `mkdir -p /www; printf %s '${text}' >/www/index.html; ${SERVING}`];
  return { name: "web", image: "tiny:latest", ports: [8080], command };
}

/** A source with a Dockerfile that answers with its version. A slow one takes a while to build. */
export function tinyApp(version: string, { slow = false } = {}): Files {
  const lines = [
    "FROM tiny:latest",
    `RUN sleep ${slow ? 5 : 0}; mkdir /www`,
    "COPY version /www/index.html",
    "EXPOSE 8080",
    `CMD ["sh", "-c", "${SERVING}"]`,
  ];
  return { Dockerfile: `${lines.join("\n")}\n`, version };
}

/** Waits until a visitor of a project gets this text. */
export async function whenPage(project: TestProject, text: string, path = "/"): Promise<string> {
  return eventually(
    () => project.page(path).catch(() => ""),
    (page) => page === text,
  );
}
