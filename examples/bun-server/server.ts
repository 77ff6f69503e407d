const server = Bun.serve({
  port: Number(process.env.PORT ?? 3000),
  routes: {
    "/": () => new Response(`Hello from Slipway, ${process.env.COLOR ?? "plain"}\n`),
    "/health": () => Response.json({ ok: true }),
  },
});

console.log(`listening on ${server.url}`);
