import { HttpCloudApi } from "../../../adapters/cloud/cloud_api.ts";
import { MemoryCloudApi } from "../../../adapters/memory/cloud_api.ts";
import { cloudApiContract } from "../../contracts/cloud_api.ts";

cloudApiContract("memory", async (respond) => {
  const adapter = new MemoryCloudApi();
  const url = "https://cloud.example.com";
  adapter.clouds.set(url, respond);
  return { adapter, url, silentUrl: "https://away.example.com", [Symbol.asyncDispose]: async () => {} };
});

cloudApiContract("HTTP", async (respond) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: respond });
  return {
    adapter: new HttpCloudApi(),
    url: `http://127.0.0.1:${server.port}`,
    silentUrl: "http://127.0.0.1:1",
    [Symbol.asyncDispose]: () => server.stop(true),
  };
});
