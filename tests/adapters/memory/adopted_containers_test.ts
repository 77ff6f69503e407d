import { MemoryRuntime } from "../../../adapters/memory/runtime.ts";
import { adoptedContainersContract } from "../../contracts/adopted_containers.ts";

adoptedContainersContract("memory", async () => {
  const runtime = new MemoryRuntime({ "tiny:1": { does: "answers", prints: ["hello"] } });
  let count = 0;
  return {
    runtime,
    image: "tiny:1",
    async startOutside() {
      const id = `${++count}`.padStart(64, "0");
      runtime.putOutside({ id: [...id].toReversed().join(""), image: "tiny:1", isUp: true });
      return [...id].toReversed().join("");
    },
    removeOutside: async (containerId) => runtime.removeOutside(containerId),
    startsWithEngine: async (containerId) => !runtime.resting.has(containerId),
    async [Symbol.asyncDispose]() {},
  };
});
