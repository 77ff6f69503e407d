import { boot } from "./boot.ts";
import { edge } from "./edge.ts";
import { idleMemory } from "./idle_memory.ts";
import { apiGet, apiList } from "./api.ts";
import { deploymentGet, deploymentsList } from "./deployments_api.ts";
import { contextUpload } from "./context_upload.ts";
import { composeDeploy, composeNoop } from "./compose.ts";
import { deployDocker } from "./deploy_docker.ts";
import { deployProcess } from "./deploy_process.ts";
import { detect } from "./detect.ts";
import { logIngest } from "./log_ingest.ts";
import { preflightS3, preflightSftp } from "./preflight.ts";
import { putS3, putSftp } from "./put_storage.ts";
import { streamFanout } from "./stream_fanout.ts";
import { baseImage } from "../tests/support/runner/base_image.ts";
import { dockerEngine } from "../tests/support/runner/docker_engine.ts";
import { useDockerProgram } from "../tests/support/runner/docker_program.ts";

/** The result of a benchmark, printed as one line: its name, the ratio to the baseline of the same run, and details. */
export interface Result {
  readonly ratio: number;
  readonly details: string;
}

const BENCHMARKS: Readonly<Record<string, () => Promise<Result>>> = {
  "api-list": apiList,
  "api-get": apiGet,
  "deployments-list": deploymentsList,
  "deployment-get": deploymentGet,
  "deploy-process": deployProcess,
  "deploy-docker": withDocker(deployDocker),
  "compose-deploy": withDocker(composeDeploy),
  "compose-noop": withDocker(composeNoop),
  "context-upload": withDocker(contextUpload),
  boot,
  "idle-memory": idleMemory,
  "log-ingest": logIngest,
  "stream-fanout": streamFanout,
  edge,
  detect,
  "preflight-s3": withDocker(preflightS3),
  "preflight-sftp": withDocker(preflightSftp),
  "put-s3": withDocker(putS3),
  "put-sftp": withDocker(putSftp),
};

/** A benchmark that needs a Docker Engine with the base image; starts the installed one if none responds. */
function withDocker(benchmark: () => Promise<Result>): () => Promise<Result> {
  return async () => {
    await using opened = new AsyncDisposableStack();
    opened.use(await dockerEngine());
    await baseImage();
    return await benchmark();
  };
}

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in BENCHMARKS));
if (unknown !== undefined) {
  console.error(`There is no benchmark "${unknown}"; there are ${Object.keys(BENCHMARKS).join(", ")}`);
  process.exit(2);
}

await useDockerProgram();
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const { ratio, details } = await benchmark();
  console.log(`${name} ${ratio.toFixed(2)} ${details}`);
}
