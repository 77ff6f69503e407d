import { join } from "node:path";
import { answers, freePort } from "./deploying.ts";
import { docker, subnet } from "./docker.ts";

const LOOK_MS = 20;

/** A service as `docker run` arguments. */
export interface Hand {
  readonly name: string;
  /** The services that must be up, or done, before it starts. */
  readonly after: readonly string[];
  /** The state that its container must reach before dependents start. Defaults to running. */
  readonly until?: "healthy" | "exited";
  /** The port that serves visitors. */
  readonly port?: number;
  readonly path?: string;
  /** The mount path of its data volume. */
  readonly volume?: string;
  readonly words: readonly string[];
}

/** Services that plain `docker` commands start. Disposal removes everything. */
export interface ByHand extends AsyncDisposable {
  /**
   * Builds and starts all services, each as early as possible; resolves to the milliseconds until all are up and
   * respond.
   */
  bringUp(): Promise<number>;
  /** Checks that nothing has changed and everything runs; resolves to the milliseconds that it took. */
  lookAtAll(): Promise<number>;
}

/** Services with this name prefix, each built from the folder of its name. */
export function byHand({
  source,
  name,
  services,
}: {
  readonly source: string;
  readonly name: string;
  readonly services: readonly Hand[];
}): ByHand {
  const called = (service: string) => `${name}-${service}`;
  const build = (service: string) => docker(["build", "--quiet", "--tag", called(service), join(source, service)]);
  const state = (service: string) =>
    docker([
      "inspect",
      "--format",
      "{{if .State.Health}}{{.State.Health.Status}}{{else}}{{.State.Status}}{{end}} {{.State.ExitCode}}",
      called(service),
    ]);

  async function bring(
    { after, until, port, path = "/", volume, words, ...service }: Hand,
    up: (service: string) => Promise<void>,
  ): Promise<void> {
    for (const other of after) await up(other);
    const published = freePort();
    const ports = port === undefined ? [] : ["--publish", `127.0.0.1:${published}:${port}`];
    const volumes = volume === undefined ? [] : ["--volume", `${name}:${volume}`];
    const own = ["--name", called(service.name), "--network", name, "--network-alias", service.name];
    await docker(["run", "--detach", "--init", ...own, ...ports, ...volumes, ...words, called(service.name)]);
    if (until !== undefined) while ((await state(service.name)) !== `${until} 0`) await Bun.sleep(LOOK_MS);
    if (port !== undefined) await answers(published, `127.0.0.1:${published}`, path);
  }

  return {
    async bringUp() {
      const started = performance.now();
      await Promise.all([
        docker(["network", "create", "--subnet", subnet(), name]),
        docker(["volume", "create", name]),
        ...services.map((service) => build(service.name)),
      ]);
      const tasks = new Map<string, Promise<void>>();
      const up = (service: string): Promise<void> => {
        const task =
          tasks.get(service) ??
          bring(
            services.find((known) => known.name === service)!,
            up,
          );
        tasks.set(service, task);
        return task;
      };
      await Promise.all(services.map((service) => up(service.name)));
      return performance.now() - started;
    },
    async lookAtAll() {
      const started = performance.now();
      await Promise.all(
        services.map(async ({ name: service }) => {
          const image = await build(service);
          await docker(["image", "inspect", image]);
          await docker(["inspect", called(service)]);
        }),
      );
      return performance.now() - started;
    },
    async [Symbol.asyncDispose]() {
      const all = services.map((service) => called(service.name));
      await docker(["rm", "--force", "--volumes", ...all]).catch(() => {});
      await docker(["volume", "rm", name]).catch(() => {});
      await docker(["network", "rm", name]).catch(() => {});
      await docker(["rmi", ...all]).catch(() => {});
    },
  };
}
