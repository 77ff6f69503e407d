import { adoptedContainersContract } from "../../contracts/adopted_containers.ts";
import { dockerWorld } from "../../support/peers/docker_world.ts";
import { TEST_LABEL } from "../../support/runner/test_leftovers.ts";

const PROGRAM = `echo hello; trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done`;

adoptedContainersContract("Docker", async () => {
  await using opened = new AsyncDisposableStack();
  const { docker, image, runtime } = opened.use(await dockerWorld());
  const name = `outside-${crypto.randomUUID()}`;
  opened.defer(async () => void (await docker("rm", "--force", "--volumes", name).catch(() => {})));
  const lifetime = opened.move();
  return {
    runtime,
    image,
    startOutside: () => {
      const options = ["--name", name, "--label", `${TEST_LABEL}=1`, "--restart", "always"];
      return docker("run", "--detach", ...options, image, "sh", "-c", PROGRAM);
    },
    removeOutside: async (containerId) => void (await docker("rm", "--force", containerId)),
    startsWithEngine: async (containerId) =>
      (await docker("inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}", containerId)) !== "no",
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
});
