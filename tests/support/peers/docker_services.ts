import type { ServiceNetworksForContract } from "../../contracts/service_networks.ts";
import type { ServicePrograms } from "../../contracts/service_runtime.ts";
import { DOCKER_HOST, type DockerWorld, dockerWorld } from "./docker_world.ts";
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

/** Services on the tests' container engine. */
export type DockerServices = Omit<DockerWorld, "programs"> & ServiceNetworksForContract;

/** Opens services with their own installation id. Disposal removes everything of the installation. */
export async function dockerServices(dockerHost = DOCKER_HOST): Promise<DockerServices> {
  const world = await dockerWorld(dockerHost, { watches: false });
  const external: string[] = [];
  const addresses = async () => {
    const ids = await world.docker("ps", "--quiet", "--filter", `label=slipway.installation=${world.installation}`);
    const format = `{{index .Config.Labels "slipway.instance"}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}`;
    const lines = (await world.docker("inspect", "--format", format, ...ids.split("\n"))).split("\n");
    return lines.map((line) => line.split(" "));
  };
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
      return found.map((address) => known.find((line) => line.includes(address))?.[0] ?? address).toSorted();
    },
    async engineName({ scope, name }) {
      const filters = [`installation=${world.installation}`, `scope=${scope}`, `volume=${name}`];
      const words = filters.flatMap((filter) => ["--filter", `label=slipway.${filter}`]);
      return world.docker("volume", "ls", "--quiet", ...words);
    },
    async networksOf(scope) {
      const filters = [`installation=${world.installation}`, `scope=${scope}`];
      const words = filters.flatMap((filter) => ["--filter", `label=slipway.${filter}`]);
      return (await world.docker("network", "ls", "--quiet", ...words)).split("\n").filter(Boolean).length;
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
