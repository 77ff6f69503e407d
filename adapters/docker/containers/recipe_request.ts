import { PLAIN_CONTAINER } from "../../../domain/services/service_spec.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { OpenRecipe } from "./adopted_recipe.ts";
import { containerRequest, type ContainerSetting } from "./container_request.ts";
import { LABEL } from "./labels.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Settings of the engine's defaults that a service may change; what it does not change is as in its recipe. */
const CHANGEABLE = ["Entrypoint", "Cmd", "Healthcheck"];
const LIMITS = ["Memory", "MemorySwap", "NanoCpus"];

/**
 * Builds the engine's request to create the container of an adopted service: like the one that it was adopted from,
 * with the changes of the service. What the container may do is not limited any further than it was.
 */
export function recipeRequest(
  request: RunRequest<RunnableImage>,
  setting: ContainerSetting,
  { config, hostConfig, sharesNetwork }: OpenRecipe,
): Fields {
  const plain = containerRequest(request, setting) as Fields & { readonly HostConfig: Fields };
  const { limits } = request.runs.container ?? PLAIN_CONTAINER;
  const hasLimits = limits.cpus !== null || limits.memoryBytes !== null;
  return {
    ...config,
    ...picked(plain, CHANGEABLE),
    Image: plain["Image"],
    Env: plain["Env"],
    Labels: { ...(config["Labels"] as object), ...setting.labels, [LABEL.asFound]: "true" },
    ExposedPorts: { ...(config["ExposedPorts"] as object), ...(plain["ExposedPorts"] as object) },
    HostConfig: {
      RestartPolicy: plain.HostConfig["RestartPolicy"],
      ...hostConfig,
      // Its recipe may restart it when it fails, but a failed one-shot service has to stay as it ended.
      ...(request.oneShot && { RestartPolicy: plain.HostConfig["RestartPolicy"] }),
      ...(hasLimits && picked(plain.HostConfig, LIMITS)),
      ...(!sharesNetwork && networkOf(hostConfig, plain.HostConfig)),
      Mounts: [...((hostConfig["Mounts"] as unknown[] | undefined) ?? []), ...setting.mounts],
    },
    ...(!sharesNetwork && { NetworkingConfig: plain["NetworkingConfig"] }),
  };
}

/** The network of its project, and its own published ports beside those that the edge uses. */
function networkOf(hostConfig: Fields, plain: Fields): Fields {
  const own = (hostConfig["PortBindings"] ?? {}) as Readonly<Record<string, readonly unknown[] | null>>;
  const edge = plain["PortBindings"] as Readonly<Record<string, readonly unknown[]>>;
  const ports = [...new Set([...Object.keys(own), ...Object.keys(edge)])];
  const bindings = ports.map((port) => [port, [...(own[port] ?? []), ...(edge[port] ?? [])]] as const);
  return { NetworkMode: plain["NetworkMode"], PortBindings: Object.fromEntries(bindings) };
}

function picked(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.filter((key) => key in fields).map((key) => [key, fields[key]]));
}
