import type { ServiceNetworksForContract } from "../../contracts/service_networks.ts";
import type { ServicePrograms } from "../../contracts/service_runtime.ts";
import { DOCKER_HOST, type DockerWorld, dockerWorld, type DockerWorldOptions } from "./docker_world.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

const WORKING = "trap 'exit 0' TERM; while :; do sleep 600 & wait; done";

/** The service programs of the contract, for BusyBox. */
const PROGRAMS: ServicePrograms = {
  answering: `for p in 8080 9090; do mkdir -p /tmp/$p; printf %s $p >/tmp/$p/index.html; httpd -p $p -h /tmp/$p; done; ${WORKING}`,
  working: WORKING,
  migrating: "echo migrated",
  failing: "echo broken; exit 4",
  well: WORKING,
  unwell: `touch /tmp/unwell; ${WORKING}`,
};

interface Named {
  readonly Name: string;
}

interface Listed {
  readonly Labels: Readonly<Record<string, string>>;
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
}

/** Services on the tests' container engine. */
export type DockerServices = Omit<DockerWorld, "programs"> & ServiceNetworksForContract;

/** Opens services with their own installation id. Disposal removes everything of the installation. */
export async function dockerServices(
  dockerHost = DOCKER_HOST,
  options: Pick<DockerWorldOptions, "distant"> = {},
): Promise<DockerServices> {
  const world = await dockerWorld(dockerHost, { watches: false, ...options });
  const external: string[] = [];
  const addresses = async () =>
    (await world.list<readonly Listed[]>("/containers/json")).map(({ Labels, NetworkSettings }) => ({
      instanceId: Labels["slipway.instance"]!,
      addresses: Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress),
    }));
  return {
    ...world,
    programs: PROGRAMS,
    async found(instanceId, name) {
      const asker = await world.containerOf(instanceId);
      // `nslookup` fails for an unknown name, which must not look like a failed `docker exec`.
      const ask = ["sh", "-c", 'nslookup -type=a "$1" || true', "sh", name];
      const answer = await world.docker("exec", asker, ...ask);
      const [, ...found] = [...answer.matchAll(/^Address:\s*(\d+\.\d+\.\d+\.\d+)/gm)].map(([, address]) => address!);
      const known = await addresses();
      const ownerOf = (address: string) => known.find(({ addresses: own }) => own.includes(address))?.instanceId;
      return found.map((address) => ownerOf(address) ?? address).toSorted();
    },
    async engineName({ scope, name }) {
      const labels = [`slipway.scope=${scope}`, `slipway.volume=${name}`];
      const { Volumes } = await world.list<{ readonly Volumes: readonly Named[] | null }>("/volumes", labels);
      return (Volumes ?? []).map(({ Name }) => Name).join("\n");
    },
    async networksOf(scope) {
      return (await world.list<readonly Named[]>("/networks", [`slipway.scope=${scope}`])).length;
    },
    async makeExternal() {
      const name = await world.docker("volume", "create", "--label", `${TEST_LABEL}=1`);
      external.push(name);
      return name;
    },
    async write(_, instanceId, bytes) {
      const container = await world.containerOf(instanceId);
      await world.docker("exec", container, "sh", "-c", `head -c ${bytes} /dev/zero > /kept/written`);
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      if (external.length > 0) await world.docker("volume", "rm", ...external);
    },
  };
}
