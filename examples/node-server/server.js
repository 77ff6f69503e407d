import { createServer } from "node:http";

const server = createServer((request, response) => {
  if (request.url === "/health") return response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  response.writeHead(200, { "content-type": "text/plain" }).end(`Node greets ${process.env.WHOM ?? "everyone"}\n`);
});

server.listen(Number(process.env.PORT ?? 3000), () => console.log(`listening on ${server.address().port}`));
process.once("SIGTERM", () => server.close());
