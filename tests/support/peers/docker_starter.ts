import { DockerRuntime } from "../../../adapters/docker/containers/docker_runtime.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { serviceRequest } from "../../contracts/service_runtime.ts";

/** The input of a process that starts an instance and is killed meanwhile. */
export interface StarterTask {
  readonly host: string;
  readonly installation: string;
  readonly folder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  readonly command: string;
  readonly instanceId: string;
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2]!) as StarterTask;
  const { host, installation, folder, labels, image, command, instanceId } = task;
  const runtime = new DockerRuntime({ engine: new EngineApi(host), installation, folder, labels });
  await runtime.start(serviceRequest({ image }, command, { instanceId }));
}
