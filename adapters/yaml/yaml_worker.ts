import { readYaml } from "./read_yaml.ts";

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<string>) => {
  self.postMessage(readYaml(data), []);
});
