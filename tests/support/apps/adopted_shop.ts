import type { TestProject } from "./deploying.ts";
import { type HandMadeShop, handMadeShop } from "./hand_made_shop.ts";
import type { Inspected, KnownServer, Untouched } from "./taken_over.ts";

type ServiceName = keyof HandMadeShop["containers"];

/** A shop that somebody has started by hand, adopted as a project. */
export class AdoptedShop {
  readonly server: KnownServer;
  readonly shop: HandMadeShop;
  readonly project: TestProject;

  constructor(server: KnownServer, shop: HandMadeShop, project: TestProject) {
    this.server = server;
    this.shop = shop;
    this.project = project;
  }

  /** Starts a shop and adopts some of its services, by default all. */
  static async of(server: KnownServer, services: readonly ServiceName[] = ["web", "api", "db"]): Promise<AdoptedShop> {
    const shop = await handMadeShop(server);
    const keys = services.map((service) => `${shop.name}/${service}`);
    const { project } = await server.adopt(shop.name, keys);
    return new AdoptedShop(server, shop, project);
  }

  /** What must not change about the original containers that nobody touches: those of `web`, `api` and `db`. */
  originals(): Promise<readonly Untouched[]> {
    const { web, api, db } = this.shop.containers;
    return this.server.untouched(web, api, db);
  }

  /** The status of each service of a deployment. */
  async statuses(id: string): Promise<Record<string, string>> {
    const { services } = await this.project.get(id);
    return Object.fromEntries(services.map(({ name, status }: Inspected) => [name, status]));
  }

  /** Sets a variable: `web/COLOR`. */
  async setVariable(key: string, value: string): Promise<void> {
    await this.#patch("/env", { upserts: [{ key, value, secret: false }] });
  }

  /** Changes settings of the project. */
  async configure(settings: object): Promise<void> {
    await this.#patch("", settings);
  }

  /** Changes the definition of a service, or removes it. */
  async redefine(name: ServiceName, change: object | "removed"): Promise<void> {
    const { services } = (await this.project.call("GET", `/api/projects/${this.project.id}`)).body.data;
    const changed = services.flatMap((service: Inspected) => {
      if (service.name !== name) return [service];
      return change === "removed" ? [] : [{ ...service, ...change }];
    });
    await this.configure({ services: changed });
  }

  /** What a visitor gets at a port of the server, seen from inside it. */
  page(port: number): Promise<string> {
    const ask = ["wget", "-qO-", `http://127.0.0.1:${port}/`];
    return this.server.docker("run", "--rm", "--network", "host", "tiny:latest", ...ask);
  }

  /** How many containers of a service run: the one that was adopted, and those that Slipway made. */
  async running(service: ServiceName): Promise<{ readonly adopted: number; readonly own: number }> {
    const originals = await this.server.inspect(this.shop.containers[service]);
    const own = await this.server.own(this.project, service);
    return { adopted: originals.filter(isUp).length, own: own.filter(isUp).length };
  }

  async #patch(path: string, body: object): Promise<void> {
    const changed = await this.project.call("PATCH", `/api/projects/${this.project.id}${path}`, { body });
    if (changed.status !== 200) throw new Error(changed.text);
  }
}

function isUp({ State }: Inspected): boolean {
  return State.Status === "running";
}
