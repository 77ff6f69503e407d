import { isFinishedJob } from "./finished_job.ts";
import { isImageId } from "./image_reference.ts";
import type { FoundContainer } from "./inventory.ts";
import type { StackService } from "./stack.ts";

const SOCKETS = /\/(?:docker|podman|containerd|crio)\.sock$/;
const STATE_WORDS: Readonly<Record<string, string>> = { created: "was never started", exited: "has stopped" };
const LEFT_ALONE =
  "It becomes a one-shot service, which the first deployment leaves alone. Set its oneShot to false if it should run";
/** Why a container cannot be adopted whose original would be gone once its first deployment has stopped it. */
export const REMOVED_AT_END =
  "it was started with --rm, so the engine removes it, and its unnamed volumes, as soon as it stops. Start it without --rm first, then scan again";
/** Networks that every engine has. */
const BUILT_IN = ["bridge", "host", "none", "podman", "default", "slirp4netns", "pasta"];

/** Explains what is odd about a service, or what a person should know before adopting it. */
export function serviceWarnings(service: StackService): readonly string[] {
  const { containers, key, managedBy } = service;
  const about = (sentence: string) => `${key}: ${sentence}`;
  const [first] = containers;
  if (!first) return [about("it has no container to adopt. Start it on the server first, then scan again")];
  const sentences = [
    ...(managedBy === null ? [] : [`${managedBy} manages it. Remove it there before Slipway deploys it`]),
    ...(containers.length > 1
      ? [`it runs ${containers.length} times. Each container becomes a service of its own`]
      : []),
    ...stateWarnings(containers),
    ...imageWarnings(first),
    ...networkWarnings(containers),
    ...mountWarnings(containers),
    ...(first.privileges.length > 0
      ? [`it may do more than an ordinary container (${first.privileges.join(", ")}). Adopt it only if you trust it`]
      : []),
  ];
  return sentences.map(about);
}

function stateWarnings(containers: readonly FoundContainer[]): readonly string[] {
  const finished = containers.filter(isFinishedJob).map(({ name }) => `${name} ran to its end`);
  const stopped = containers.filter((container) => container.state !== "running" && !isFinishedJob(container));
  const names = stopped.map(({ name, state }) => `${name} ${STATE_WORDS[state] ?? `is ${state}`}`);
  return [
    ...(names.length === 0 ? [] : [`${names.join(", ")}. Adopting does not start it, the first deployment does`]),
    ...(finished.length === 0 ? [] : [`${finished.join(", ")}. ${LEFT_ALONE}`]),
    ...(containers.some(({ removedAtEnd }) => removedAtEnd) ? [REMOVED_AT_END] : []),
  ];
}

function imageWarnings({ image, imageFacts }: FoundContainer): readonly string[] {
  if (!imageFacts) return ["its image is gone from the server. Pull or build it again before it is deployed"];
  if (imageFacts.digests.length > 0) return [];
  const what = isImageId(image) ? "its image" : `its image ${image}`;
  return [`${what} exists on this server only, no registry has it. It can be deployed on this server, not elsewhere`];
}

function networkWarnings(containers: readonly FoundContainer[]): readonly string[] {
  const [first] = containers;
  const mode = first!.networkMode;
  const addresses = containers.flatMap(({ networks }) => networks.flatMap((network) => network.addresses));
  const foreign = first!.networks.map(({ name }) => name).filter((name) => !BUILT_IN.includes(name));
  return [
    ...(mode === "host" ? ["it uses the network of the server itself, so its ports are open there"] : []),
    ...(mode.startsWith("container:") || mode.startsWith("ns:")
      ? ["it shares the network of another container. Adopt both, or neither"]
      : []),
    ...(addresses.length > 0 ? [`it has fixed addresses (${addresses.join(", ")}), which are kept`] : []),
    ...(foreign.length > 1 ? [`it is in several networks (${foreign.join(", ")}), which are kept`] : []),
  ];
}

function mountWarnings(containers: readonly FoundContainer[]): readonly string[] {
  const mounts = containers.flatMap((container) => container.mounts);
  const unnamed = [...new Set(mounts.filter(({ anonymous }) => anonymous).map(({ target }) => target))];
  const hasEngine = mounts.some(({ source, type }) => type === "bind" && SOCKETS.test(source));
  const others = mounts.filter(({ type }) => type === "other");
  return [
    ...(unnamed.length > 0
      ? [`it keeps data in a volume without a name, at ${unnamed.join(", ")}. That volume is kept by its id`]
      : []),
    ...(hasEngine
      ? ["it can use the container engine, which is control over the server. Adopt it only if you trust it"]
      : []),
    ...(others.length > 0
      ? [`it has mounts of an unusual kind, at ${others.map(({ target }) => target).join(", ")}`]
      : []),
  ];
}
