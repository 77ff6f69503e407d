import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import { deploymentOfInstance } from "../../domain/deployments/instance_id.ts";
import { secretMask } from "../../domain/deployments/secret_mask.ts";
import { secretValues } from "../../domain/deployments/secret_values.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { ServiceLogPorts } from "./service_log.ts";
import { serviceOutput } from "./service_output.ts";

export interface RuntimeOutputPorts extends ServiceLogPorts {
  readonly deployments: Pick<Deployments, "environment" | "get">;
}

/** A line as the log shows it. Runtime output has its own numbers: per service, or across all services together. */
export type LoggedLine = Omit<Extract<DeploymentEvent, { type: "log" }>, "type">;

interface Mask {
  /** The deployments whose secrets it masks. */
  readonly of: string;
  readonly hide: (text: string) => string;
}

/** Reads the output of a deployment's services with secrets masked; looks the secrets up once for all reads. */
export class RuntimeOutput {
  readonly #ports: RuntimeOutputPorts;
  readonly #service: string | undefined;
  #mask: Promise<Mask> | undefined;

  /** Reads all services, unless `service` is given. */
  constructor(ports: RuntimeOutputPorts, service: string | undefined) {
    this.#ports = ports;
    this.#service = service || undefined;
  }

  /** The services of a deployment that this reads. */
  servicesOf({ services }: Pick<Deployment, "services">): readonly DeployedService[] {
    return this.#service === undefined ? services : services.filter(({ name }) => name === this.#service);
  }

  /** Reads the lines of the deployment's current state after number `since`, at most `limit`. */
  async read(
    deployment: Deployment,
    part: { readonly since: number; readonly limit: number },
  ): Promise<readonly LoggedLine[]> {
    const services = this.servicesOf(deployment);
    const lines = await serviceOutput(this.#ports, { id: deployment.id, services }, part);
    if (lines.length === 0) return [];
    const { hide } = await this.#maskFor(deployment, services);
    return lines.map((line) => ({ ...line, message: hide(line.message), level: "info", step: null }));
  }

  /** The environment of an instance never changes, so the mask is cached until the set of instances changes. */
  async #maskFor(deployment: Deployment, services: readonly DeployedService[]): Promise<Mask> {
    const owners = [
      deployment.id,
      ...services.flatMap(({ instanceId }) => (instanceId ? deploymentOfInstance(instanceId) : [])),
    ];
    const of = [...new Set(owners)].join(" ");
    const known = await this.#mask?.catch(() => undefined);
    if (known?.of === of) return known;
    this.#mask = this.#secretsOf(deployment, new Set(owners)).then((secrets) => ({ of, hide: secretMask(secrets) }));
    return this.#mask;
  }

  /** An instance may have carried over through several deployments: it knows the secrets of the one that started it. */
  async #secretsOf(deployment: Deployment, owners: ReadonlySet<string>): Promise<readonly Secret[]> {
    const { deployments } = this.#ports;
    const others = [...owners].filter((owner) => owner !== deployment.id);
    const found = await Promise.all(others.map((owner) => deployments.get(owner)));
    const known = [deployment, ...found.filter((other) => other !== undefined)];
    const secrets = known.map(async (each) => secretValues(each, await deployments.environment(each.id)));
    return (await Promise.all(secrets)).flat();
  }
}
