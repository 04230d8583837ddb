import { createServer } from "node:net";
import { Admin } from "@platformatic/kafka";
async function trial(name, onSocket) {
  const server = createServer(onSocket).listen(19399, "127.0.0.1"); await new Promise(r=>server.once("listening", r));
  const admin = new Admin({ clientId: "x", bootstrapBrokers: ["127.0.0.1:19399"], retries: 0, timeout: 3000, connectTimeout: 1000 });
  const t = Date.now();
  const r = await Promise.race([admin.metadata({topics: [], forceUpdate: true}).then(()=>"ok", e=>"rejected " + e.message + " " + e.errors?.[0]?.message), new Promise(r=>setTimeout(()=>r("HANG"), 20000))]);
  console.log(name, r, Date.now()-t);
  await Promise.race([admin.close().then(()=>console.log("closed"), e=>console.log("close rejected", e.message)), new Promise(r=>setTimeout(()=>{console.log("close hang"); r()}, 3000))]);
  server.close();
}
const which = process.argv[2];
if (which==="silent") await trial("silent", () => {});
if (which==="end") await trial("ends at once", s => s.end());
if (which==="reset") await trial("reset", s => s.resetAndDestroy());
if (which==="late") await trial("ends after request", s => s.once("data", () => s.end()));
if (which==="latereset") await trial("reset after request", s => s.once("data", () => s.resetAndDestroy()));
process.exit();
