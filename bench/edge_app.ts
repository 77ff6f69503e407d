/**
 * A small upstream app for the edge, with a page that it renders for each request and a static response of a few bytes.
 * Prints its port.
 */
const rows = Array.from({ length: 50 }, (_, index) => ({ id: index, name: `Item ${index}`, price: index * 1.25 }));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/hello": () => new Response("hello"),
    "/page": () => {
      const body = rows.map(({ id, name, price }) => `<tr><td>${id}<td>${name}<td>${price.toFixed(2)}`).join("\n");
      return new Response(`<!doctype html><title>Items</title><table>${body}</table>`, {
        headers: { "content-type": "text/html; charset=utf-8" },
      });
    },
  },
});
process.stdout.write(`${server.port}\n`);
