import { DockerContainerEngine } from "../../../adapters/docker/engine/container_engine.ts";
import { containerEngineContract } from "../../contracts/container_engine.ts";

containerEngineContract("Docker", async () => ({
  running: new DockerContainerEngine(process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock"),
  stopped: new DockerContainerEngine("unix:///no/such/docker.sock"),
}));
