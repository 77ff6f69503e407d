import { setDefaultTimeout } from "bun:test";
import { dockerWorld } from "../support/docker_world.ts";
import { runtimeContract } from "../contracts/runtime.ts";

setDefaultTimeout(60_000);
runtimeContract("Docker", dockerWorld);
