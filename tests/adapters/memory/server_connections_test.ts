import { engineInventoriesContract } from "../../contracts/engine_inventories.ts";
import { serverConnectionsContract } from "../../contracts/server_connections.ts";
import { memoryStage } from "../../support/apps/memory_stage.ts";

serverConnectionsContract("memory", async () => memoryStage());
engineInventoriesContract("memory", async () => memoryStage());
