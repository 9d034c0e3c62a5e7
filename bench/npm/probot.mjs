// The peer: Probot's middleware with one handler that does nothing, so that it reads the body, checks the signature
// and answers. Nothing is stored.
import { createServer } from "node:http";
import { createNodeMiddleware, createProbot } from "probot";

const [port, secret] = process.argv.slice(2);
const probot = createProbot({
  overrides: { appId: 1, privateKey: process.env.BENCH_KEY, secret, logLevel: "fatal" },
});
const middleware = await createNodeMiddleware((app) => app.on("pull_request", () => {}), {
  probot,
  webhooksPath: "/webhooks/github",
});
createServer(async (request, response) => {
  if (request.url === "/healthz") return response.end("{}");
  if (!(await middleware(request, response)) && !response.writableEnded) response.writeHead(404).end();
}).listen(Number(port), "127.0.0.1");
